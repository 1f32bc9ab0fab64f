from __future__ import annotations

import struct

import pytest
from crc32c import crc32c

from domain.configs.topic import TopicConfig
from domain.errors import CorruptMessage, InvalidRecord
from domain.messages.batch import (
    LOG_APPEND_TIME,
    MAX_SEQUENCE,
    RecordBatch,
    advance_sequence,
    parse_single_batch,
)
from domain.partitions.partition import Partition
from tests.fakes.batches import GZIP, TIMESTAMP, ZSTD, record_batch


def parsed(data: bytes | bytearray) -> RecordBatch:
    return parse_single_batch(memoryview(bytearray(data)))


def test_a_header_has_the_fields_of_the_producer() -> None:
    data = record_batch(
        [("k", "a", (), TIMESTAMP), ("k", "b", (), TIMESTAMP + 5)],
        producer_id=7,
        epoch=3,
        sequence=40,
        codec=GZIP,
    )
    batch = parsed(data)
    assert (batch.base_offset, batch.leader_epoch, batch.magic) == (0, -1, 2)
    assert (batch.count, batch.last_offset_delta, batch.last_offset) == (2, 1, 1)
    assert (batch.base_timestamp, batch.max_timestamp) == (TIMESTAMP, TIMESTAMP + 5)
    assert (batch.producer_id, batch.producer_epoch) == (7, 3)
    assert (batch.base_sequence, batch.last_sequence) == (40, 41)
    assert batch.codec == GZIP
    assert batch.size_bytes == len(data)
    assert bytes(batch.records) == bytes(data[61:])


def test_a_header_can_be_read_without_its_records() -> None:
    batch = RecordBatch(memoryview(record_batch(["a", "b", "c"], base_offset=100)[:61]))
    assert (batch.base_offset, batch.last_offset) == (100, 102)


def test_a_truncated_batch_is_refused() -> None:
    data = record_batch(["some value"])
    for size in range(len(data)):
        with pytest.raises(InvalidRecord, match="exactly one record batch"):
            parsed(data[:size])


@pytest.mark.parametrize("at", [17, 21, 30, 43, 60, 61, -1])
def test_a_changed_byte_fails_the_checksum(at: int) -> None:
    data = record_batch(["a value"])
    parsed(data).check_crc(crc32c)
    data[at] ^= 1
    with pytest.raises(CorruptMessage):
        parsed(data).check_crc(crc32c)


def appended(data: bytearray) -> None:
    """Batches of producers are checked when they are appended."""
    struct.pack_into(">I", data, 17, crc32c(data[21:]))
    Partition(1, "t", 0, TopicConfig()).append(parsed(data), TIMESTAMP, crc32c)


COUNT = "offset range or count"


@pytest.mark.parametrize(
    ("data", "match"),
    [
        *((record_batch(["a", "b"], count=count), COUNT) for count in (-1, 0, 1, 3)),
        *((record_batch(["a", "b"], last_offset_delta=delta), COUNT) for delta in (-2, -1, 0, 2)),
        (record_batch([]), COUNT),
        *((record_batch(["a"], base_offset=at), "should be 0") for at in (-1, 1, 2**62)),
        (record_batch(["a"], control=True), "control records"),
        *((record_batch(["a"], codec=codec), "compression type") for codec in (5, 6, 7)),
        (record_batch(["a"], producer_id=7, epoch=0), "sequence number -1"),
    ],
)
def test_a_batch_that_no_producer_may_send_is_refused(data: bytearray, match: str) -> None:
    with pytest.raises(InvalidRecord, match=match):
        appended(data)


def test_a_valid_batch_is_accepted() -> None:
    appended(record_batch(["a", "b"]))
    appended(record_batch(["a"], producer_id=1, epoch=0, sequence=0))
    appended(record_batch(["a"], codec=ZSTD))


def test_setting_the_offset_keeps_the_checksum_valid() -> None:
    data = record_batch(["a", "b"])
    before = bytes(data)
    batch = parsed(data)
    batch.set_offset(2**40, 9)
    placed = bytes(batch.buffer)
    assert struct.unpack_from(">q", placed) == (2**40,)
    assert struct.unpack_from(">i", placed, 12) == (9,)
    assert placed[8:12] + placed[16:] == before[8:12] + before[16:]
    assert (batch.base_offset, batch.last_offset, batch.leader_epoch) == (2**40, 2**40 + 1, 9)
    RecordBatch(memoryview(placed)).check_crc(crc32c)


def test_stamping_a_batch_updates_the_checksum() -> None:
    data = record_batch(["a", "b"], codec=GZIP)
    batch = parsed(data)
    batch.stamp(TIMESTAMP + 77, crc32c)
    again = RecordBatch(memoryview(bytes(batch.buffer)))
    again.check_crc(crc32c)
    assert again.attributes == GZIP | LOG_APPEND_TIME
    assert (again.max_timestamp, again.base_timestamp) == (TIMESTAMP + 77, TIMESTAMP)
    assert bytes(again.records) == bytes(data[61:])
    assert (batch.crc, batch.attributes) == (again.crc, again.attributes)


@pytest.mark.parametrize(
    ("sequence", "by", "after"),
    [
        (0, 0, 0),
        (0, 1, 1),
        (MAX_SEQUENCE - 1, 1, MAX_SEQUENCE),
        (MAX_SEQUENCE, 1, 0),
        (MAX_SEQUENCE - 1, 3, 1),
    ],
)
def test_sequences_wrap_around(sequence: int, by: int, after: int) -> None:
    assert advance_sequence(sequence, by) == after


def test_a_batch_can_cross_the_largest_sequence() -> None:
    batch = parsed(record_batch(["a", "b", "c"], producer_id=1, epoch=0, sequence=MAX_SEQUENCE))
    assert batch.last_sequence == 1
