"""The batches of real clients are decoded to the records that they sent (batches/README.md)."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pytest

from domain.messages.batch import NO_PRODUCER_ID, RecordBatch
from domain.messages.message import Message, decode_messages, decode_times
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression

FOLDER = Path(__file__).parent / "batches"
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
NAMES = sorted(path.stem for path in FOLDER.glob("*.batch"))


def unpacked(field: str | None) -> bytes | None:
    return None if field is None else b64decode(field)


EXPECTED = [
    Message(
        offset,
        row["timestamp"],
        unpacked(row["key"]),
        unpacked(row["value"]),
        tuple((name.encode(), b64decode(content)) for name, content in row["headers"]),
    )
    for offset, row in enumerate(json.loads((FOLDER / "records.json").read_text()))
]


def captured(name: str) -> RecordBatch:
    return RecordBatch(memoryview(bytearray((FOLDER / f"{name}.batch").read_bytes())))


@pytest.mark.parametrize("name", NAMES)
def test_the_records_of_each_client_are_decoded(name: str) -> None:
    batch = captured(name)
    batch.check_crc(crc32c)
    payload = BatchCompression().decompress(batch.codec, batch.records, 1_000_000)
    messages = list(decode_messages(payload, 0, batch.base_timestamp, batch.count))
    assert messages == EXPECTED
    assert batch.max_timestamp == max(message.timestamp for message in EXPECTED)
    times = list(decode_times(payload, 0, batch.base_timestamp, batch.count))
    assert times == [(message.offset, message.timestamp) for message in EXPECTED]


def test_the_main_clients_have_a_batch_for_each_codec() -> None:
    for client in ("confluent", "aiokafka", "java"):
        assert [captured(f"{client}-{codec}").codec for codec in CODECS] == [0, 1, 2, 3, 4]
    assert {f"kafkajs-{codec}" for codec in CODECS[:3]} <= set(NAMES)


def test_idempotent_batches_have_a_producer_id_and_the_first_sequence() -> None:
    for name in ("confluent-idempotent", "java-none"):
        batch = captured(name)
        assert batch.producer_id > NO_PRODUCER_ID
        assert (batch.producer_epoch, batch.base_sequence) == (0, 0)
    assert captured("aiokafka-none").producer_id == NO_PRODUCER_ID
