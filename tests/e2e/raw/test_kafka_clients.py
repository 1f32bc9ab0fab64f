"""Raw clients and Kafka clients use the same records."""

from __future__ import annotations

import json
import os
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.librdkafka import PATIENCE_S, deliver, producer, read
from tests.e2e.line_process import LineProcess
from tests.e2e.node_packages import kafkajs_command
from tests.e2e.raw.conftest import TOPIC, RawBroker, StartRaw
from tests.e2e.raw.stream import positions

EVERY_BYTE = bytes(range(256))
RAW = [b"first", b"", EVERY_BYTE, b"x" * 200_000]
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
Story = Callable[..., Any]


@pytest.fixture
def kafka_and_raw(start_raw: StartRaw) -> RawBroker:
    return start_raw("--set", "group.initial.rebalance.delay.ms=0", engine="memory")


@pytest.fixture
def kafkajs(kafka_and_raw: RawBroker, tmp_path: Path) -> Iterator[Story]:
    command, where = kafkajs_command("stories.js")
    process = LineProcess(command, tmp_path / "stderr", os.environ | where)

    def tell(story: str, **arguments: Any) -> Any:
        request = {"story": story, "bootstrap": kafka_and_raw.bootstrap, **arguments}
        response = json.loads(process.request(json.dumps(request)))
        assert response["ok"], response
        return response["result"]

    yield tell
    process.close()


def base64(data: bytes) -> str:
    return b64encode(data).decode()


def test_kafkajs_reads_raw_records_and_raw_consumers_those_of_kafkajs(
    kafka_and_raw: RawBroker, kafkajs: Story
) -> None:
    raw = kafka_and_raw
    with raw.consumer() as tail:
        assert raw.produce(*RAW) == positions(RAW)[:-1]
        assert tail.records(len(RAW)) == RAW
        sent = [
            {"key": base64(b"k"), "value": base64(b"v"), "headers": {"h": base64(b"1")}},
            {"key": base64(b"tombstone"), "value": None},
            {"key": None, "value": base64(EVERY_BYTE)},
        ]
        for codec in ("none", "gzip"):
            kafkajs("send", topic=TOPIC, messages=sent, codec=codec)
            assert tail.records(3) == [b"v", b"", EVERY_BYTE]
        everything = [*RAW, *[b"v", b"", EVERY_BYTE] * 2]
        assert raw.produce(b"last") == [positions(everything)[-1]]
        assert tail.record() == b"last"
    found = kafkajs("consume", topic=TOPIC, count=len(everything) + 1)
    values = [None if one["value"] is None else b64decode(one["value"]) for one in found]
    assert values == [*RAW, *[b"v", None, EVERY_BYTE] * 2, b"last"]
    assert {(one["key"], *one["headers"]) for one in found[: len(RAW)]} == {(None,)}


@pytest.mark.parametrize("raw_first", [False, pytest.param(True, marks=pytest.mark.long)])
def test_librdkafka_reads_raw_records_and_raw_consumers_those_of_librdkafka(
    raw_first: bool, kafka_and_raw: RawBroker
) -> None:
    """The broker knows the positions of its producers already, or finds them for a consumer."""
    raw = kafka_and_raw
    begun_ms = int(time.time() * 1000)
    values: list[bytes | None] = list(RAW) if raw_first else []
    if raw_first:
        raw.produce(*RAW)
    for codec in CODECS:
        sender = producer(raw.bootstrap, compression_type=codec, enable_idempotence=codec == "lz4")
        many = [*(b"%d " % number * 40 for number in range(500)), None, codec.encode()]
        assert not deliver(sender, TOPIC, *many, key=b"key", headers=[("h", b"1")]).errors
        values += many
    plain = [value or b"" for value in values]
    places = positions(plain)
    for number in (0, 100, len(plain) - 1):
        with raw.consumer(places[number]) as consumer:
            assert consumer.records(len(plain) - number) == plain[number:]
    assert raw.produce(b"last", b"of all") == [places[-1], places[-1] + 8]
    messages = read(raw.bootstrap, TOPIC, len(values) + 2)
    assert [message.value() for message in messages] == [*values, b"last", b"of all"]
    for message in (*messages[: len(RAW) * raw_first], *messages[-2:]):
        assert (message.key(), message.headers()) == (None, None)
        assert begun_ms <= message.timestamp()[1] <= time.time() * 1000


def test_records_of_aborted_transactions_are_streamed_and_their_markers_are_not(
    kafka_and_raw: RawBroker,
) -> None:
    raw = kafka_and_raw
    sender = producer(raw.bootstrap, transactional_id="payments")
    sender.init_transactions(PATIENCE_S)
    with raw.consumer() as tail:
        for value, end in [(b"aborted", sender.abort_transaction), (b"committed", None)]:
            sender.begin_transaction()
            deliver(sender, TOPIC, value)
            assert tail.record() == value, "while the transaction is open"
            (end or sender.commit_transaction)(PATIENCE_S)
            [offset] = raw.produce(b"raw")
            assert tail.record() == b"raw"
    assert offset == positions([b"aborted", b"raw", b"committed"])[-1]
