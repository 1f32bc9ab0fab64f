from __future__ import annotations

import pytest

from domain.configs.topic import TopicConfig
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition
from domain.partitions.retention import Expired, Oldest, Reason, Retention
from tests.fakes.batches import record_batch

NOW = 100_000
NEVER = -1
#: Of each batch: one record.
SIZE = len(record_batch(["a"], timestamp=0))
TIME, BY_SIZE = Reason.TIME, Reason.SIZE


def log(*timestamps: int) -> list[RecordBatch]:
    batches = []
    for offset, timestamp in enumerate(timestamps):
        batch = RecordBatch(memoryview(bytearray(record_batch(["a"], timestamp=timestamp))))
        batch.set_offset(offset, 0)
        batches.append(batch)
    return batches


def look(
    batches: list[RecordBatch],
    retention_ms: int = NEVER,
    retention_bytes: int = NEVER,
    start_offset: int = 0,
    expired_to: int = 0,
) -> tuple[Expired | None, int]:
    """What expires, and how many headers it takes to know."""
    config = TopicConfig(retention_ms=retention_ms, retention_bytes=retention_bytes)
    partition = Partition(1, "t", 0, config)
    partition.end.start_offset = start_offset
    partition.end.size_bytes = SIZE * len(batches)
    retention = Retention(partition, NOW, expired_to)
    for number, batch in enumerate(batches, 1):
        if not retention.add(batch):
            return retention.expired, number
    return retention.expired, len(batches)


@pytest.mark.parametrize(
    "ages, offset",
    [
        ([11, 11, 10, 11], 2),  # a record is retained for as long as the config says
        ([10, 99], None),  # a newer batch at the front retains those behind it
        ([99, 98, 97], 3),
        ([12, 99, 11], 3),
        ([], None),
    ],
)
def test_the_batches_before_the_first_newer_one_expire(ages: list[int], offset: int | None) -> None:
    expired, _ = look(log(*(NOW - age for age in ages)), retention_ms=10)
    assert expired == (offset and Expired(offset, TIME))


@pytest.mark.parametrize(
    "timestamps, offset",
    [
        ([-1, -1], None),
        ([-1, 5, -1], 2),
        ([5, -1, 6, -1, NOW], 3),
        ([-1, NOW], None),
    ],
)
def test_a_batch_without_a_timestamp_expires_with_a_later_one(
    timestamps: list[int], offset: int | None
) -> None:
    expired, _ = look(log(*timestamps), retention_ms=10)
    assert (expired.offset if expired else None) == offset


@pytest.mark.parametrize(
    "retained, offset",
    [
        (NEVER, None),
        (0, 4),
        (1, 3),
        (SIZE, 3),
        (SIZE + 1, 2),
        (4 * SIZE - 1, None),
        (4 * SIZE, None),
        (5 * SIZE, None),
    ],
)
def test_at_least_retention_bytes_remain(retained: int, offset: int | None) -> None:
    expired, _ = look(log(*[NOW] * 4), retention_bytes=retained)
    assert expired == (offset and Expired(offset, BY_SIZE))


def test_the_rule_that_removes_more_decides() -> None:
    batches = log(1, 1, NOW, NOW)
    assert look(batches, 10, 3 * SIZE)[0] == Expired(2, TIME)
    assert look(batches, 10, SIZE)[0] == Expired(3, BY_SIZE)


def test_the_index_of_timestamps_skips_batches() -> None:
    batches = log(1, 1, 1, NOW)
    assert look(batches[2:], 10, expired_to=2) == (Expired(3, TIME), 2)
    assert look(batches[3:], 10, expired_to=3) == (Expired(3, TIME), 1)
    assert look(batches[3:], 10, expired_to=3, start_offset=3) == (None, 1)


def test_deleted_batches_that_are_still_stored_count_as_removed() -> None:
    batches = log(1, 1, 1, NOW)
    assert look(batches, retention_bytes=2 * SIZE, start_offset=2)[0] is None
    assert look(batches, 10, start_offset=2)[0] == Expired(3, TIME)
    assert look(log(2 * NOW, 1, NOW), 10, start_offset=1)[0] == Expired(2, TIME)
    assert look(batches, retention_bytes=3 * SIZE, start_offset=3) == (None, 4)


def test_headers_are_read_up_to_the_first_batch_that_stays() -> None:
    batches = log(1, 1, NOW, NOW, NOW)
    assert look(batches, 10)[1] == 3
    assert look(batches, 10, 5 * SIZE)[1] == 3
    assert look(batches, 10, 1 * SIZE)[1] == 5
    assert look(batches)[1] == 1


@pytest.mark.parametrize("retention_ms", [0, 1, NOW, 2**63 - 1])
def test_a_clock_that_went_back_expires_nothing(retention_ms: int) -> None:
    assert look(log(NOW, NOW + 86_400_000), retention_ms) == (None, 1)


@pytest.mark.parametrize(
    "retention_ms, retention_bytes, log_bytes, expires",
    [
        (10, NEVER, None, False),
        (9, NEVER, None, True),
        (NEVER, NEVER, None, False),
        (NEVER, 0, None, True),
        (NEVER, 50, 150, True),
        (NEVER, 51, 150, False),
        (10, 51, 150, False),
    ],
)
def test_the_oldest_batch_says_whether_the_log_must_be_read(
    retention_ms: int, retention_bytes: int, log_bytes: int | None, expires: bool
) -> None:
    config = TopicConfig(retention_ms=retention_ms, retention_bytes=retention_bytes)
    oldest = Oldest(None, NOW - 10, 100)
    assert oldest.may_expire(config, NOW, log_bytes) is expires
