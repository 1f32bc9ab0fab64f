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


# ---- reading


def test_a_header_says_what_the_producer_wrote() -> None:
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


def test_the_header_alone_is_enough_to_read_it() -> None:
    batch = RecordBatch(memoryview(record_batch(["a", "b", "c"], base_offset=100)[:61]))
    assert (batch.base_offset, batch.last_offset) == (100, 102)


# ---- one whole batch of format v2


@pytest.mark.parametrize("size", [0, 1, 11, 12, 60])
def test_less_than_a_header_is_no_batch(size: int) -> None:
    with pytest.raises(InvalidRecord, match="exactly one record batch"):
        parsed(record_batch(["a"])[:size])


def test_null_is_no_batch() -> None:
    with pytest.raises(InvalidRecord, match="exactly one record batch"):
        parse_single_batch(None)


def test_a_truncated_batch_is_refused() -> None:
    data = record_batch(["some value"])
    for size in range(61, len(data)):
        with pytest.raises(InvalidRecord, match="exactly one record batch"):
            parsed(data[:size])


def test_two_batches_are_one_too_many() -> None:
    with pytest.raises(InvalidRecord, match="no more than one record batch"):
        parsed(record_batch(["a"]) + record_batch(["b"]))


def test_bytes_after_the_batch_are_refused() -> None:
    with pytest.raises(InvalidRecord, match="no more than one record batch"):
        parsed(record_batch(["a"]) + b"\0")


@pytest.mark.parametrize("magic", [0, 1])
def test_only_format_v2_is_taken(magic: int) -> None:
    with pytest.raises(InvalidRecord, match="magic version 2"):
        parsed(record_batch(["a"], magic=magic))


@pytest.mark.parametrize("magic", [3, -1])
def test_a_format_that_there_is_not_is_damage_and_may_be_sent_again(magic: int) -> None:
    with pytest.raises(CorruptMessage, match=f"Invalid magic found in record: {magic}"):
        parsed(record_batch(["a"], magic=magic))


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 13, 48])
def test_a_length_without_room_for_a_header_is_damage(length: int) -> None:
    data = record_batch(["a"])
    struct.pack_into(">i", data, 8, length)
    with pytest.raises(CorruptMessage):
        parsed(data)


def test_a_length_beyond_the_bytes_is_refused() -> None:
    data = record_batch(["a"])
    struct.pack_into(">i", data, 8, 2**31 - 1)
    with pytest.raises(InvalidRecord):
        parsed(data)


# ---- the checksum


def test_a_right_checksum_is_accepted() -> None:
    parsed(record_batch(["a"])).check_crc(crc32c)


@pytest.mark.parametrize("at", [17, 21, 30, 43, 60, 61, -1])
def test_a_changed_byte_is_noticed(at: int) -> None:
    data = record_batch(["a value"])
    data[at] ^= 1
    with pytest.raises(CorruptMessage):
        parsed(data).check_crc(crc32c)


# ---- what a producer may not put into a batch


def appended(data: bytearray) -> None:
    """What a producer may put into a batch is asked where it is appended."""
    struct.pack_into(">I", data, 17, crc32c(data[21:]))
    Partition(1, "t", 0, TopicConfig()).append(parsed(data), TIMESTAMP, crc32c)


def refused(data: bytearray, match: str) -> None:
    with pytest.raises(InvalidRecord, match=match):
        appended(data)


def test_an_honest_batch_is_accepted() -> None:
    appended(record_batch(["a", "b"]))
    appended(record_batch(["a"], producer_id=1, epoch=0, sequence=0))
    appended(record_batch(["a"], codec=ZSTD))


@pytest.mark.parametrize("count", [-1, 0, 1, 3])
def test_a_count_that_is_not_the_offsets_is_refused(count: int) -> None:
    refused(record_batch(["a", "b"], count=count), "offset range or count")


@pytest.mark.parametrize("delta", [-2, -1, 0, 2])
def test_a_last_offset_that_is_not_the_counts_is_refused(delta: int) -> None:
    refused(record_batch(["a", "b"], last_offset_delta=delta), "offset range or count")


def test_a_batch_without_records_is_refused() -> None:
    refused(record_batch([]), "offset range or count")


@pytest.mark.parametrize("base_offset", [-1, 1, 2**62])
def test_a_base_offset_other_than_zero_is_refused(base_offset: int) -> None:
    refused(record_batch(["a"], base_offset=base_offset), "should be 0, but it is")


def test_a_control_batch_is_refused() -> None:
    refused(record_batch(["a"], control=True), "control records")


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_an_unknown_codec_is_refused(codec: int) -> None:
    refused(record_batch(["a"], codec=codec), "compression type")


def test_a_producer_id_without_a_sequence_is_refused() -> None:
    refused(record_batch(["a"], producer_id=7, epoch=0), "sequence number -1")


# ---- patching


def test_placing_a_batch_leaves_its_checksum_right() -> None:
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


def test_stamping_a_batch_makes_its_checksum_anew() -> None:
    data = record_batch(["a", "b"], codec=GZIP)
    batch = parsed(data)
    batch.stamp(TIMESTAMP + 77, crc32c)
    again = RecordBatch(memoryview(bytes(batch.buffer)))
    again.check_crc(crc32c)
    assert again.attributes == GZIP | LOG_APPEND_TIME
    assert (again.max_timestamp, again.base_timestamp) == (TIMESTAMP + 77, TIMESTAMP)
    assert bytes(again.records) == bytes(data[61:])
    assert (batch.crc, batch.attributes) == (again.crc, again.attributes)


# ---- sequences


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
def test_sequences_begin_again_after_the_largest(sequence: int, by: int, after: int) -> None:
    assert advance_sequence(sequence, by) == after


def test_a_batch_may_lie_across_the_end_of_the_sequences() -> None:
    batch = parsed(record_batch(["a", "b", "c"], producer_id=1, epoch=0, sequence=MAX_SEQUENCE))
    assert batch.last_sequence == 1
