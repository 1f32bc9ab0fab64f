"""The producer of a task: its settings, its bounded queue, the failure that it reports."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError

from interfaces.spark.kafka import sink_sending
from interfaces.spark.kafka.client_settings import may_be_idempotent
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.sink_columns import SinkColumns
from interfaces.spark.kafka.sink_rows import SLICE_BYTES, Rows
from interfaces.spark.kafka.sink_sending import Sending
from interfaces.spark.query.failures import JobFailed

MB = 2**20
HEADERS = "array<struct<key:string,value:binary>>"
ANOTHER_RECORD = KafkaError._INVALID_DIFFERENT_RECORD


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_sending, "look", lambda servers: None)


def sending(**given: str) -> Any:
    named = {name.replace("__", "."): given[name] for name in given}
    made: Any = Sending(KafkaOptions({"kafka.bootstrap.servers": "b:1", **named}))
    made._topics.add("t")
    return made


class Report:
    """The message of a delivery report."""

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 0

    def key(self) -> None: ...

    def value(self) -> None: ...


class Queue:
    """A producer that sends nothing until it is flushed, and is full for the first calls."""

    def __init__(self, full_calls: int = 0) -> None:
        self._full_calls, self._waiting = full_calls, 1
        self.bytes = self.most_bytes = self.count = 0

    def __len__(self) -> int:
        return self._waiting

    def produce(self, topic: str, value: bytes, key: bytes | None, *more: Any) -> None:
        if self._full_calls:
            self._full_calls -= 1
            raise BufferError
        headers = more[4] if len(more) > 4 else None
        self.count += 1
        self.bytes += len(key or b"") + sum(len(part) for _, part in headers or ())
        self.most_bytes = max(self.most_bytes, self.bytes)

    def poll(self, timeout: float) -> int:
        self._waiting = 0
        return 0

    def flush(self, timeout: float) -> int:
        self.bytes = 0
        return 0

    def purge(self, blocking: bool) -> None: ...


@pytest.mark.parametrize("part_of_record", ["key", "headers"])
def test_large_keys_and_headers_are_bounded(part_of_record: str) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    large = b"x" * 100_000
    columns, kinds = {"value": pa.array([b"v"] * 500)}, {"value": "binary"}
    if part_of_record == "key":
        columns["key"], kinds["key"] = pa.array([large] * 500), "binary"
    else:
        pairs = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
        columns["headers"] = pa.array([[{"key": "h", "value": large}]] * 500, pairs)
        kinds["headers"] = HEADERS
    bounded = sending(kafka__buffer__memory=str(20 * MB))
    bounded._made = queue = Queue()
    rows = Rows(SinkColumns.of(kinds, "t", False), bounded.delivered)
    for _ in range(2):
        for topics, part, beside_values in rows.slices(pa.record_batch(columns)):
            bounded.send(topics, part, beside_values)
    assert queue.count == 1000
    assert 20 * MB - SLICE_BYTES - MB < queue.most_bytes <= 20 * MB


@pytest.mark.parametrize(("acks", "is_idempotent"), [("1", False), ("0", False), ("all", True)])
def test_a_producer_with_fewer_acks_is_not_idempotent(acks: str, is_idempotent: bool) -> None:
    made = sending(kafka__acks=acks)
    assert made._producer is not None  # librdkafka checks the settings together
    assert may_be_idempotent(made._options.client()) == is_idempotent


@pytest.mark.parametrize(
    ("codes", "reported"),
    [
        # Another record of the batch has the reason.
        ([ANOTHER_RECORD, ANOTHER_RECORD, KafkaError.INVALID_RECORD, ANOTHER_RECORD,
          KafkaError.NO_ERROR], "INVALID_RECORD"),
        ([KafkaError.INVALID_TIMESTAMP, ANOTHER_RECORD, KafkaError._MSG_TIMED_OUT],
         "INVALID_TIMESTAMP"),
    ],
)  # fmt: skip
def test_the_first_reason_is_reported(codes: list[int], reported: str) -> None:
    refused = sending()
    for code in codes:
        refused.delivered(KafkaError(code), Report())
    with pytest.raises(JobFailed, match=rf"\({reported}\): "):
        refused._check()


def test_a_record_waits_for_room_in_the_queue_and_fails_if_it_never_fits() -> None:
    row = ("t", b"value", None, -1)
    waiting, too_large = sending(), sending()
    waiting._made, too_large._made = queue, _ = Queue(full_calls=2), Queue(full_calls=10)
    waiting.send({"t"}, [row])
    assert queue.count == 1
    with pytest.raises(JobFailed, match=r"5 bytes .* kafka\.buffer\.memory"):
        too_large.send({"t"}, [row])
