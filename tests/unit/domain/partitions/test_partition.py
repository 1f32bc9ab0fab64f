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
from domain.partitions.appended import Appended
from domain.partitions.partition import (
    INDEX_INTERVAL_BYTES,
    Partition,
)
from domain.partitions.snapshot import PartitionSnapshot
from tests.fakes.batches import TIMESTAMP, record_batch

NOW_MS = TIMESTAMP
HOUR_MS = 3_600_000


def new_partition(**config: int) -> Partition:
    return Partition(12, "t", 3, TopicConfig(**config))  # type: ignore[arg-type]


def append(partition: Partition, data: bytearray, now_ms: int = NOW_MS) -> Appended:
    return partition.append(parse_single_batch(memoryview(data)), now_ms, crc32c)


def header(data: bytes | bytearray) -> RecordBatch:
    return RecordBatch(memoryview(data))


def test_batches_get_consecutive_offsets() -> None:
    partition = new_partition()
    first, second = record_batch(["a", "b", "c"]), record_batch(["d"])
    appended = append(partition, first)
    assert (appended.base_offset, appended.last_offset, appended.duplicate) == (0, 2, False)
    appended = append(partition, second)
    assert (appended.base_offset, appended.last_offset) == (3, 3)
    assert partition.end.next_offset == 4
    assert (header(second).base_offset, header(second).leader_epoch) == (3, 0)


def test_the_high_watermark_rises_with_the_commit() -> None:
    partition = new_partition()
    append(partition, record_batch(["a", "b"]))
    end = partition.end.copy()
    append(partition, record_batch(["c"]))
    assert (partition.high_watermark, partition.last_stable_offset) == (0, 0)
    partition.committed(end)
    assert (partition.high_watermark, partition.last_stable_offset) == (2, 2)
    partition.committed(partition.end.copy())
    assert partition.high_watermark == 3


def test_only_durable_records_can_be_read() -> None:
    partition = new_partition()
    append(partition, record_batch(["a", "b"]))
    partition.committed(partition.end.copy())
    append(partition, record_batch(["c"]))
    for offset in (0, 1, 2):
        partition.check_readable(offset)
    for offset in (-1, 3, 4):
        with pytest.raises(OffsetOutOfRange, match="t-3"):
            partition.check_readable(offset)


def refused(partition: Partition, data: bytearray, error: type[Exception], match: str) -> None:
    before = bytes(data)
    with pytest.raises(error, match=match):
        append(partition, data)
    assert (partition.end.next_offset, partition.end.appended_bytes) == (0, 0)
    assert len(partition.producers) == 0
    assert bytes(data) == before


FUTURE = record_batch(["a"], timestamp=NOW_MS + HOUR_MS + 1)
LARGE = record_batch(["a value"])
CORRUPT = record_batch(["a value"], producer_id=1, epoch=0, sequence=0)
CORRUPT[-1] ^= 1


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (LARGE, MessageTooLarge, f"is {len(LARGE)} bytes which exceeds"),
        (CORRUPT, CorruptMessage, "checksum"),
        (record_batch(["a"], count=2), InvalidRecord, "count"),
        (FUTURE, InvalidTimestamp, "invalid timestamp"),
        (record_batch(["a"], log_append_time=True), InvalidTimestamp, "LogAppendTime"),
    ],
    ids=["too large", "corrupt", "count", "future", "log append time"],
)
def test_a_refused_batch_changes_nothing(
    data: bytearray, error: type[Exception], match: str
) -> None:
    config = {"max_message_bytes": len(LARGE) - 1} if data is LARGE else {}
    refused(new_partition(**config), data, error, match)


def test_a_batch_at_the_limits_is_accepted() -> None:
    partition = new_partition(max_message_bytes=len(LARGE), timestamp_after_max_ms=HOUR_MS)
    append(partition, record_batch(["a value"], timestamp=NOW_MS + HOUR_MS))


@pytest.mark.parametrize("timestamp", [5, NOW_MS + 100 * HOUR_MS])
def test_log_append_time_replaces_any_timestamp(timestamp: int) -> None:
    partition = new_partition(log_append_time=True)
    data = record_batch(["a"], timestamp=timestamp)
    assert append(partition, data).log_append_time == NOW_MS
    stamped = header(data)
    assert stamped.max_timestamp == NOW_MS
    assert stamped.attributes & LOG_APPEND_TIME
    stamped.check_crc(crc32c)


def test_log_append_time_never_goes_back() -> None:
    partition = new_partition(log_append_time=True)
    times = [
        append(partition, record_batch(["a"]), now_ms=now_ms).log_append_time
        for now_ms in (NOW_MS, NOW_MS - 1000, NOW_MS - 1, NOW_MS + 1)
    ]
    assert times == [NOW_MS, NOW_MS, NOW_MS, NOW_MS + 1]


def retried(partition: Partition, now_ms: int = NOW_MS) -> Appended:
    batch = record_batch(["a", "b"], producer_id=9, epoch=0, sequence=0)
    return append(partition, batch, now_ms=now_ms)


@pytest.mark.parametrize("log_append_time", [False, True])
def test_a_retry_gets_the_offset_and_time_of_its_first_try(log_append_time: bool) -> None:
    partition = new_partition(log_append_time=log_append_time)
    append(partition, record_batch(["other"]))
    first = retried(partition)
    appended_bytes = partition.end.appended_bytes
    again = retried(partition, now_ms=NOW_MS + 50)
    assert again.duplicate
    for one in (first, again):
        assert (one.base_offset, one.last_offset) == (1, 2)
    assert first.log_append_time == (NOW_MS if log_append_time else -1)
    assert again.log_append_time == NOW_MS
    assert (partition.end.next_offset, partition.end.appended_bytes) == (3, appended_bytes)
    assert partition.high_watermark == 0, "the first try need not be durable"


def test_a_corrupt_retry_and_a_gap_change_nothing() -> None:
    partition = new_partition()
    retried(partition)
    data = record_batch(["a", "b"], producer_id=9, epoch=0, sequence=0)
    data[-1] ^= 1
    with pytest.raises(CorruptMessage):
        append(partition, data)
    with pytest.raises(OutOfOrderSequence):
        append(partition, record_batch(["a"], producer_id=9, epoch=0, sequence=3))
    assert partition.end.next_offset == 2


def test_the_max_timestamp_is_that_of_the_first_batch_that_has_it() -> None:
    partition = new_partition()
    for timestamp, found in (
        (-1, (-1, -1)),
        (NOW_MS, (NOW_MS, 1)),
        (NOW_MS + 5, (NOW_MS + 5, 2)),
        (NOW_MS + 2, (NOW_MS + 5, 2)),
        (NOW_MS + 5, (NOW_MS + 5, 2)),
    ):
        append(partition, record_batch(["a"], timestamp=timestamp))
        assert (partition.end.max_timestamp, partition.end.max_timestamp_offset) == found


def test_timestamps_are_indexed_once_per_interval() -> None:
    partition = new_partition()
    big = "x" * (INDEX_INTERVAL_BYTES // 4)
    entries = [
        append(partition, record_batch([big], timestamp=NOW_MS + i)).indexed_timestamp
        for i in range(9)
    ]
    assert [entry - NOW_MS for entry in entries if entry >= 0] == [0, 4, 8]


def test_the_index_has_the_max_timestamp_so_far() -> None:
    partition = new_partition()
    big = "x" * INDEX_INTERVAL_BYTES
    entries = [
        append(partition, record_batch([big], timestamp=NOW_MS + after)).indexed_timestamp
        for after in (0, 0, 5, 1, 2)
    ]
    without = record_batch([big], timestamp=-1)
    assert append(new_partition(), without).indexed_timestamp == -1
    assert [entry - NOW_MS for entry in entries] == [0, 0, 5, 5, 5]


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
    last = record_batch(["d"], producer_id=9, epoch=0, sequence=2)
    assert append(again, last).duplicate
    assert append(again, record_batch(["e"])).base_offset == 4


def test_a_partition_is_restored_from_the_headers_of_its_log() -> None:
    partition, headers = grown()
    again = new_partition()
    for one in headers:
        again.replay(one)
    check_same(again, partition)


def test_a_partition_is_restored_from_a_snapshot_and_later_headers() -> None:
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


def test_a_reload_drops_lost_batches() -> None:
    partition, headers = grown()
    append(partition, record_batch(["lost"], producer_id=9, epoch=0, sequence=3))
    partition.restore(None)
    for one in headers:
        partition.replay(one)
    assert partition.end.next_offset == 4
    again = append(partition, record_batch(["sent again"], producer_id=9, epoch=0, sequence=3))
    assert (again.base_offset, again.duplicate) == (4, False)


def test_the_first_timestamp_after_a_restart_is_indexed() -> None:
    _, headers = grown()
    again = new_partition()
    for one in headers:
        again.replay(one)
    appended = append(again, record_batch(["e"], timestamp=NOW_MS + 10))
    assert appended.indexed_timestamp == NOW_MS + 10
