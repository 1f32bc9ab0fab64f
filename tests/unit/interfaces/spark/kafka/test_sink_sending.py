"""Settings and queue of a task's producer."""

from __future__ import annotations

from typing import Any

import pytest

from interfaces.spark.kafka import sink_sending
from interfaces.spark.kafka.client_settings import may_be_idempotent
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.sink_columns import SinkColumns
from interfaces.spark.kafka.sink_rows import SLICE_BYTES, Rows
from interfaces.spark.kafka.sink_sending import Sending

MB = 2**20


def sending(monkeypatch: pytest.MonkeyPatch, **given: str) -> Any:
    def nobody_looks(servers: str) -> None:
        assert servers == "b:1"

    monkeypatch.setattr(sink_sending, "look", nobody_looks)
    named = {name.replace("__", "."): given[name] for name in given}
    made: Any = Sending(KafkaOptions({"kafka.bootstrap.servers": "b:1", **named}))
    made._topics.add("t")
    return made


class Queue:
    """A producer that sends nothing until it is flushed."""

    def __init__(self) -> None:
        self.bytes = self.most_bytes = self.count = 0

    def produce(self, topic: str, value: bytes, key: bytes | None, *more: Any) -> None:
        headers = more[4] if len(more) > 4 else None
        self.count += 1
        self.bytes += len(key or b"") + sum(len(part) for _, part in headers or ())
        self.most_bytes = max(self.most_bytes, self.bytes)

    def poll(self, timeout: float) -> int:
        return 0

    def flush(self, timeout: float) -> int:
        self.bytes = 0
        return 0


@pytest.mark.parametrize("part_of_record", ["key", "headers"])
def test_large_keys_and_headers_are_bounded(
    monkeypatch: pytest.MonkeyPatch, part_of_record: str
) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    large = b"x" * 100_000
    pairs = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    columns = {"value": pa.array([b"v"] * 500)}
    kinds = {"value": "binary"}
    if part_of_record == "key":
        columns["key"], kinds["key"] = pa.array([large] * 500), "binary"
    else:
        columns["headers"] = pa.array([[{"key": "h", "value": large}]] * 500, pairs)
        kinds["headers"] = "array<struct<key:string,value:binary>>"
    bounded = sending(monkeypatch, kafka__buffer__memory=str(20 * MB))
    bounded._made = queue = Queue()
    rows = Rows(SinkColumns.of(kinds, "t", False), bounded.delivered)
    for _ in range(2):
        for topics, part, beside_values in rows.slices(pa.record_batch(columns)):
            bounded.send(topics, part, beside_values)
    assert queue.count == 1000
    assert 20 * MB - SLICE_BYTES - MB < queue.most_bytes <= 20 * MB


@pytest.mark.parametrize(("acks", "is_idempotent"), [("1", False), ("0", False), ("all", True)])
def test_a_producer_with_fewer_acks_is_not_idempotent(
    monkeypatch: pytest.MonkeyPatch, acks: str, is_idempotent: bool
) -> None:
    made = sending(monkeypatch, kafka__acks=acks)
    assert made._producer is not None  # librdkafka takes the settings together
    assert may_be_idempotent(made._options.client()) == is_idempotent
