from __future__ import annotations

import pytest
from crc32c import crc32c

from domain.configs.topic import TopicConfig
from domain.errors import (
    CorruptMessage,
    InvalidRecord,
    InvalidTimestamp,
    MessageTooLarge,
    OffsetOutOfRange,
    OutOfOrderSequence,
)
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch, parse_single_batch
from domain.partitions.partition import (
    INDEX_INTERVAL_BYTES,
    Appended,
    Partition,
    PartitionSnapshot,
)
from tests.fakes.batches import TIMESTAMP, record_batch

NOW_MS = TIMESTAMP
HOUR_MS = 3_600_000


def new_partition(**config: int) -> Partition:
    return Partition(12, "t", 3, TopicConfig(**config))  # type: ignore[arg-type]


def append(partition: Partition, data: bytearray, now_ms: int = NOW_MS) -> Appended:
    return partition.append(parse_single_batch(memoryview(data)), now_ms, crc32c)


def header(data: bytes | bytearray) -> RecordBatch:
    return RecordBatch(memoryview(data))


# ---- places


def test_batches_get_consecutive_offsets() -> None:
    partition = new_partition()
    first, second = record_batch(["a", "b", "c"]), record_batch(["d"])
    appended = append(partition, first)
    assert (appended.base_offset, appended.last_offset, appended.duplicate) == (0, 2, False)
    appended = append(partition, second)
    assert (appended.base_offset, appended.last_offset) == (3, 3)
    assert partition.end.next_offset == 4
    assert (header(second).base_offset, header(second).leader_epoch) == (3, 0)


def test_the_watermark_rises_only_with_the_commit() -> None:
    partition = new_partition()
    append(partition, record_batch(["a", "b"]))
    end = partition.end.copy()
    append(partition, record_batch(["c"]))
    assert (partition.high_watermark, partition.last_stable_offset) == (0, 0)
    partition.committed(end)
    assert (partition.high_watermark, partition.last_stable_offset) == (2, 2)
    partition.committed(partition.end.copy())
    assert partition.high_watermark == 3


def test_only_what_is_durable_can_be_read() -> None:
    partition = new_partition()
    append(partition, record_batch(["a", "b"]))
    partition.committed(partition.end.copy())
    append(partition, record_batch(["c"]))
    for offset in (0, 1, 2):
        partition.check_readable(offset)
    for offset in (-1, 3, 4):
        with pytest.raises(OffsetOutOfRange, match="t-3"):
            partition.check_readable(offset)


# ---- refusals, which change nothing


def refused(partition: Partition, data: bytearray, error: type[Exception], match: str) -> None:
    before = bytes(data)
    with pytest.raises(error, match=match):
        append(partition, data)
    assert (partition.end.next_offset, partition.end.appended_bytes) == (0, 0)
    assert len(partition.producers) == 0
    assert bytes(data) == before


def test_a_batch_of_exactly_the_largest_size_is_accepted() -> None:
    data = record_batch(["a value"])
    append(new_partition(max_message_bytes=len(data)), data)


def test_a_batch_that_is_too_large_is_refused() -> None:
    data = record_batch(["a value"])
    partition = new_partition(max_message_bytes=len(data) - 1)
    refused(partition, data, MessageTooLarge, f"is {len(data)} bytes which exceeds")


def test_a_corrupt_batch_is_refused() -> None:
    data = record_batch(["a value"], producer_id=1, epoch=0, sequence=0)
    data[-1] ^= 1
    refused(new_partition(), data, CorruptMessage, "checksum")


def test_a_batch_that_lies_about_its_count_is_refused() -> None:
    refused(new_partition(), record_batch(["a"], count=2), InvalidRecord, "count")


def test_a_batch_of_the_far_future_is_refused() -> None:
    partition = new_partition(timestamp_after_max_ms=HOUR_MS)
    append(partition, record_batch(["a"], timestamp=NOW_MS + HOUR_MS))
    data = record_batch(["a"], timestamp=NOW_MS + HOUR_MS + 1)
    refused(new_partition(), data, InvalidTimestamp, "invalid timestamp")


def test_the_type_of_timestamps_is_not_the_producers_to_choose() -> None:
    data = record_batch(["a"], log_append_time=True)
    refused(new_partition(), data, InvalidTimestamp, "LogAppendTime")


# ---- log append time


def test_the_log_stamps_its_own_time() -> None:
    partition = new_partition(log_append_time=True)
    data = record_batch(["a"], timestamp=5)
    appended = append(partition, data)
    assert appended.log_append_time == NOW_MS
    stamped = header(data)
    assert stamped.max_timestamp == NOW_MS
    assert stamped.attributes & LOG_APPEND_TIME
    stamped.check_crc(crc32c)


def test_without_log_append_time_none_is_told() -> None:
    assert append(new_partition(), record_batch(["a"])).log_append_time == -1


def test_log_append_time_never_goes_back() -> None:
    partition = new_partition(log_append_time=True)
    times = [
        append(partition, record_batch(["a"]), now_ms=now_ms).log_append_time
        for now_ms in (NOW_MS, NOW_MS - 1000, NOW_MS - 1, NOW_MS + 1)
    ]
    assert times == [NOW_MS, NOW_MS, NOW_MS, NOW_MS + 1]


def test_with_log_append_time_a_producers_clock_does_not_matter() -> None:
    partition = new_partition(log_append_time=True)
    data = record_batch(["a"], timestamp=NOW_MS + 100 * HOUR_MS)
    assert append(partition, data).log_append_time == NOW_MS


# ---- retries


def test_a_retry_is_told_its_first_offset_and_changes_nothing() -> None:
    partition = new_partition()
    append(partition, record_batch(["other"]))
    retried = {"producer_id": 9, "epoch": 0, "sequence": 0}
    first = append(partition, record_batch(["a", "b"], **retried))  # type: ignore[arg-type]
    appended_bytes = partition.end.appended_bytes
    again = append(partition, record_batch(["a", "b"], **retried))  # type: ignore[arg-type]
    assert again.duplicate
    assert (again.base_offset, again.last_offset) == (first.base_offset, first.last_offset)
    assert (partition.end.next_offset, partition.end.appended_bytes) == (3, appended_bytes)


def test_a_retry_is_known_before_its_batch_is_durable() -> None:
    partition = new_partition()
    for _ in range(2):
        appended = append(partition, record_batch(["a"], producer_id=9, epoch=0, sequence=0))
    assert appended.duplicate
    assert partition.high_watermark == 0


def test_a_retry_is_told_the_time_the_log_gave_it_first() -> None:
    partition = new_partition(log_append_time=True)
    append(partition, record_batch(["a"], producer_id=9, epoch=0, sequence=0))
    again = append(
        partition, record_batch(["a"], producer_id=9, epoch=0, sequence=0), now_ms=NOW_MS + 50
    )
    assert (again.duplicate, again.log_append_time) == (True, NOW_MS)


def test_a_corrupt_retry_is_corrupt() -> None:
    partition = new_partition()
    append(partition, record_batch(["a"], producer_id=9, epoch=0, sequence=0))
    data = record_batch(["a"], producer_id=9, epoch=0, sequence=0)
    data[-1] ^= 1
    with pytest.raises(CorruptMessage):
        append(partition, data)


def test_a_gap_changes_nothing() -> None:
    partition = new_partition()
    append(partition, record_batch(["a"], producer_id=9, epoch=0, sequence=0))
    with pytest.raises(OutOfOrderSequence):
        append(partition, record_batch(["a"], producer_id=9, epoch=0, sequence=2))
    assert partition.end.next_offset == 1


# ---- the largest timestamp, and the index


def test_the_largest_timestamp_is_that_of_the_first_batch_that_has_it() -> None:
    partition = new_partition()
    for timestamp in (NOW_MS, NOW_MS + 5, NOW_MS + 2, NOW_MS + 5):
        append(partition, record_batch(["a"], timestamp=timestamp))
    assert (partition.end.max_timestamp, partition.end.max_timestamp_offset) == (NOW_MS + 5, 1)


def test_a_batch_without_timestamps_has_no_part_in_it() -> None:
    partition = new_partition()
    append(partition, record_batch(["a"], timestamp=-1))
    assert (partition.end.max_timestamp, partition.end.max_timestamp_offset) == (-1, -1)


def test_the_first_timestamp_gets_an_index_entry_and_then_one_each_so_many_bytes() -> None:
    partition = new_partition()
    big = "x" * (INDEX_INTERVAL_BYTES // 4)
    entries = [
        append(partition, record_batch([big], timestamp=NOW_MS + i)).indexed_timestamp
        for i in range(9)
    ]
    assert [entry - NOW_MS for entry in entries if entry >= 0] == [0, 4, 8]


def test_where_timestamps_do_not_rise_the_entry_of_the_largest_moves_on() -> None:
    partition = new_partition()
    big = "x" * INDEX_INTERVAL_BYTES
    entries = [
        append(partition, record_batch([big], timestamp=NOW_MS + after)).indexed_timestamp
        for after in (0, 0, 5, 1, 2)
    ]
    assert [entry - NOW_MS for entry in entries] == [0, 0, 5, 5, 5]


def test_without_timestamps_there_are_no_entries() -> None:
    partition = new_partition()
    big = "x" * INDEX_INTERVAL_BYTES
    assert append(partition, record_batch([big], timestamp=-1)).indexed_timestamp == -1


# ---- starting again


def grown() -> tuple[Partition, list[bytes]]:
    """A partition of three batches, all durable, and their headers."""
    partition = new_partition()
    batches = [
        record_batch(["a", "b"], producer_id=9, epoch=0, sequence=0),
        record_batch(["c"], timestamp=NOW_MS + 9),
        record_batch(["d"], producer_id=9, epoch=0, sequence=2),
    ]
    for data in batches:
        append(partition, data)
    partition.committed(partition.end.copy())
    return partition, [bytes(data[:61]) for data in batches]


def check_same(again: Partition, partition: Partition) -> None:
    assert again.high_watermark == partition.high_watermark
    for name in ("next_offset", "max_timestamp", "max_timestamp_offset"):
        assert getattr(again.end, name) == getattr(partition.end, name), name
    assert append(
        again, record_batch(["d"], producer_id=9, epoch=0, sequence=2)
    ).duplicate  # fmt: skip
    assert append(again, record_batch(["e"])).base_offset == 4


def test_the_headers_of_a_log_are_enough_to_start_again() -> None:
    partition, headers = grown()
    again = new_partition()
    for one in headers:
        again.replay(one)
    check_same(again, partition)


def test_a_snapshot_and_the_headers_after_it_are_enough_to_start_again() -> None:
    for snapshot_after in range(4):
        source = new_partition()
        partition, headers = grown()
        for one in headers[:snapshot_after]:
            source.replay(one)
        snapshot = source.snapshot()
        assert source.bytes_since_snapshot == 0
        again = new_partition()
        again.restore(PartitionSnapshot(snapshot.end, snapshot.leader_epochs, snapshot.producers))
        assert again.high_watermark == source.end.next_offset
        for one in headers[snapshot_after:]:
            again.replay(one)
        check_same(again, partition)


def test_restoring_forgets_what_was_appended() -> None:
    partition, headers = grown()
    append(partition, record_batch(["lost"], producer_id=9, epoch=0, sequence=3))
    partition.restore(None)
    for one in headers:
        partition.replay(one)
    assert partition.end.next_offset == 4
    again = append(partition, record_batch(["sent again"], producer_id=9, epoch=0, sequence=3))
    assert (again.base_offset, again.duplicate) == (4, False)


def test_after_a_restart_the_next_timestamp_gets_an_index_entry() -> None:
    _, headers = grown()
    again = new_partition()
    for one in headers:
        again.replay(one)
    appended = append(again, record_batch(["e"], timestamp=NOW_MS + 10))
    assert appended.indexed_timestamp == NOW_MS + 10
