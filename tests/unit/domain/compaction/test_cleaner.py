"""What Kafka's cleaner does is in tests/golden/test_compaction.py; here is what is ours."""

from __future__ import annotations

import pytest

from application.partitions.opened_batch import MAX_OPENED_RECORDS
from domain.compaction.offset_map import ENTRY_BYTES
from domain.messages.batch import CRC, CRC_START, RecordBatch
from domain.partitions.partition import INDEX_INTERVAL_BYTES
from tests.fakes.batches import GZIP, Record, record_batch
from tests.fakes.compaction import BatchLog, messages_of, run


def record(key: str, value: str | None = "v", timestamp: int = 100) -> Record:
    return (key, value, (), timestamp)


def log_of(*batches: list[Record], codec: int = 0) -> BatchLog:
    log = BatchLog()
    for records in batches:
        log.append(record_batch(records, codec=codec))
    return log


def offsets(log: BatchLog) -> list[int]:
    return [message.offset for message in log.messages()]


# ---- replacements


def test_a_pass_that_removes_nothing_replaces_nothing() -> None:
    log = log_of([record("a")], [record("b")])
    assert list(run(log, log.cleaner())) == []


def test_only_the_batches_between_changes_are_replaced() -> None:
    log = log_of(*([record(key)] for key in "xabcay"))
    before = [batch.buffer for batch in log.batches]
    [step] = run(log, log.cleaner())
    assert (step.first_offset, step.last_offset, step.batches) == (1, 1, [])

    log = log_of(*([record(key)] for key in "xabcaby"))
    [step] = run(log, log.cleaner())
    assert (step.first_offset, step.last_offset, step.batches) == (1, 2, [])

    log = log_of(*([record(key)] for key in "xabcacy"))
    [step] = run(log, log.cleaner())
    assert (step.first_offset, step.last_offset) == (1, 3)
    assert step.batches == before[2:3]


def test_each_read_gives_one_replacement() -> None:
    log = log_of(*([record("a")] for _ in range(4)))
    steps = list(run(log, log.cleaner(), max_bytes=1))
    assert [(step.first_offset, step.last_offset) for step in steps] == [(0, 0), (1, 1), (2, 2)]


def test_a_log_whose_batches_are_gone_is_done() -> None:
    """Its records were deleted meanwhile."""
    log = log_of([record("a")], [record("a")])
    cleaner = log.cleaner()
    assert cleaner.advance(log.read(0, 2, 1000)) is None
    assert cleaner.advance(b"") is None
    assert cleaner.is_done


def test_the_timestamp_index_has_the_largest_timestamp_so_far() -> None:
    value = "v" * (INDEX_INTERVAL_BYTES // 2)
    times = (500, 900, 400, 300, 1000, 200)
    log = log_of(*([record(f"{time}", value, time)] for time in times))
    log.append(record_batch([record("900", value, 1)]))
    log.append(record_batch([record("200", value, 1)]))
    log.append(record_batch([record("500", value, 1)]))
    [step] = run(log, log.cleaner())
    assert (step.first_offset, step.last_offset) == (0, 5)
    assert step.indexed == [(400, 3)]
    log.replace(step)
    assert [batch.base_offset for batch in log.batches] == [2, 3, 4, 6, 7, 8]


def test_the_timestamp_of_an_empty_batch_is_not_indexed() -> None:
    value = "v" * INDEX_INTERVAL_BYTES
    log = BatchLog()
    log.append(record_batch([record("a", timestamp=900)], producer_id=7, epoch=0, sequence=0))
    log.append(record_batch([record("b", value, 400), record("a", timestamp=300)]))
    log.append(record_batch([record("a", timestamp=200)]))
    [step] = run(log, log.cleaner(producers={7: 0}))
    assert [RecordBatch(memoryview(each)).max_timestamp for each in step.batches] == [900, 400]
    assert step.indexed == [(400, 2)]


def test_a_dirty_batch_without_the_newest_record_of_a_key_is_opened_once() -> None:
    log = log_of([record("a")], [record("b"), record("a")], [record("a")], [record("b")])
    cleaner = log.cleaner()
    cleaner.advance(log.read(0, log.next_offset, 1 << 20))
    log.unreadable = {0, 1}
    [step] = run(log, cleaner)
    assert (step.first_offset, step.last_offset, step.batches) == (0, 2, [])
    assert cleaner.stats.unreadable_batches == 0


# ---- a map that is full


def test_a_pass_ends_with_the_batches_that_fit_in_the_map() -> None:
    log = log_of([record("a"), record("b")], [record("a"), record("c")], [record("b")])
    cleaner = log.compact(map_bytes=3 * ENTRY_BYTES)
    assert cleaner.end_offset == 2
    assert offsets(log) == [0, 1, 2, 3, 4]
    cleaner = log.compact(map_bytes=3 * ENTRY_BYTES, dirty=2)
    assert cleaner.end_offset == 5
    assert cleaner.stats.buffer_utilization == 1.0
    assert offsets(log) == [2, 3, 4]


def test_a_pass_takes_at_least_one_batch() -> None:
    log = log_of([record("a"), record("b"), record("a")], [record("b")])
    assert log.compact(map_bytes=0).end_offset == 3
    assert offsets(log) == [1, 2, 3]


# ---- batches that cannot be opened


def test_batches_that_cannot_be_opened_stay_and_are_counted() -> None:
    log = log_of([record("a")], [record("a")], [record("a")], [record("a")], [record("a")])
    CRC.pack_into(log.batches[0].buffer, CRC_START, 1)
    for each in (
        record_batch([record("a")], payload=b"malformed"),
        record_batch([record("a")], codec=GZIP, payload=b"", count=1),
        record_batch(
            [record("a")],
            count=MAX_OPENED_RECORDS + 1,
            last_offset_delta=MAX_OPENED_RECORDS,
        ),
    ):
        log.append(each)
    log.append(record_batch([record("a")]))
    before = [bytes(batch.buffer) for batch in log.batches]
    cleaner = log.compact(map_bytes=10 * ENTRY_BYTES)
    assert (cleaner.stats.unreadable_batches, cleaner.end_offset) == (4, log.next_offset)
    assert [bytes(batch.buffer) for batch in log.batches] == [before[0], *before[5:]]


def test_a_tombstone_stays_after_a_batch_that_cannot_be_opened() -> None:
    """The batch may have a value of the key, which readers would see again."""
    log = log_of([record("a")], [record("b", None)], [record("a", None)], [record("c")])
    log.unreadable = {0}
    log.compact(end=3, delete_retention_ms=10)
    log.compact(dirty=3, now_ms=10)
    assert offsets(log) == [0, 1, 2, 3]
    log.unreadable = set()
    log.compact(now_ms=10)
    assert offsets(log) == [3]


LONGEST_MS = 2**63 - 1


def test_a_tombstone_stays_however_long_the_delete_retention_is() -> None:
    for timestamp in (100, -1):
        log = log_of([record("a", timestamp=timestamp)], [record("a", None, timestamp)])
        log.compact(now_ms=1000, delete_retention_ms=LONGEST_MS)
        [tombstone] = log.batches
        assert tombstone.delete_horizon == LONGEST_MS
        assert [(each.key, each.timestamp) for each in log.messages()] == [(b"a", timestamp)]


@pytest.mark.parametrize(
    "base_timestamp, delta",
    [
        (LONGEST_MS, b"\x0a"),
        (-LONGEST_MS, b"\x09"),
        (0, b"\x80" * 12 + b"\0"),
    ],
    ids=["after the last time", "before the first time", "a varint of 13 bytes"],
)
def test_a_batch_whose_timestamps_cannot_be_written_stays(
    base_timestamp: int, delta: bytes
) -> None:
    rest = b"\x02a\x02v\0", b"\x02b\x02v\0"
    first, second = (b"\0" + delta + bytes([2 * at]) + each for at, each in enumerate(rest))
    payload = b"".join(bytes([2 * len(each)]) + each for each in (first, second))
    log = BatchLog()
    log.append(
        record_batch([], payload=payload, timestamp=base_timestamp, count=2, last_offset_delta=1)
    )
    log.append(record_batch([record("b", None)]))
    before = bytes(log.batches[0].buffer)
    for now_ms in (0, 1):  # the second pass would remove the tombstone
        cleaner = log.compact(now_ms=now_ms, delete_retention_ms=0)
        assert cleaner.stats.unreadable_batches == 1
        assert bytes(log.batches[0].buffer) == before
        assert [message.value for message in messages_of(log.batches[1])] == [None]


# ---- statistics


def test_statistics_of_a_pass() -> None:
    log = log_of([record("a"), record("b", None)], ["no key"], [record("a"), record("c")])
    sizes = [batch.size_bytes for batch in log.batches]
    stats = log.compact(dirty=2, end=5).stats
    assert (stats.messages_read, stats.messages_written) == (5, 3)
    assert (stats.map_bytes_read, stats.bytes_read) == (sum(sizes[1:]), sum(sizes))
    assert stats.bytes_written == sum(batch.size_bytes for batch in log.batches)
