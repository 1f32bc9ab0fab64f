"""Batches that the broker builds, read by an independent decoder."""

from __future__ import annotations

import pytest
from aiokafka.record.default_records import DefaultRecordBatch

from domain.errors import CorruptMessage
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.messages.building import build_batch, without_producer
from domain.messages.message import Message
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression
from tests.fakes.batches import record_batch

MESSAGES = [
    Message(0, 1_700_000_000_000, b"k", b"value", ((b"h", b"\x00\xff"), (b"h", None))),
    Message(7, 1_700_000_000_005, None, b"v" * 5000),
    Message(8, 1_699_999_999_000, b"", None),
]


@pytest.mark.parametrize("codec", range(5))
def test_an_independent_client_reads_a_built_batch(codec: int) -> None:
    batch = build_batch(MESSAGES, crc32c, codec, BatchCompression().compress)
    read = DefaultRecordBatch(batch)
    assert read.validate_crc()
    assert (read.base_offset, read.last_offset_delta) == (0, 2)
    assert read.max_timestamp == 1_700_000_000_005
    records = list(read)
    assert [each.offset for each in records] == [0, 1, 2]
    assert [each.timestamp for each in records] == [each.timestamp for each in MESSAGES]
    assert [(each.key, each.value) for each in records] == [
        (each.key, each.value) for each in MESSAGES
    ]
    assert records[0].headers == [("h", b"\x00\xff"), ("h", None)]


def test_a_built_batch_equals_that_of_a_producer_without_an_id() -> None:
    built = build_batch([Message(0, 1_700_000, b"k", b"v", ((b"h", b"1"),))], crc32c)
    assert built == record_batch([(b"k", b"v", [("h", b"1")], 1_700_000)])


def test_the_producer_id_can_be_removed() -> None:
    batch = RecordBatch(memoryview(record_batch(["a", "b"], producer_id=7, epoch=1, sequence=5)))
    without_producer(batch, crc32c)
    batch.check_crc(crc32c)
    assert bytes(batch.buffer) == bytes(record_batch(["a", "b"]))


def test_a_batch_without_a_producer_id_is_not_changed() -> None:
    batch = RecordBatch(memoryview(record_batch(["a"], log_append_time=True)))
    batch.buffer[60] ^= 1  # a new checksum would hide it
    without_producer(batch, crc32c)
    assert batch.attributes & LOG_APPEND_TIME
    with pytest.raises(CorruptMessage):
        batch.check_crc(crc32c)
