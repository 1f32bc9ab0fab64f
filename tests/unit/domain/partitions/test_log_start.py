"""The log start offset: moved by DeleteRecords."""

from __future__ import annotations

import pytest

from domain.errors import OffsetOutOfRange, PolicyViolation
from domain.partitions.partition import (
    SNAPSHOT_INTERVAL_BYTES,
    UP_TO_HIGH_WATERMARK,
    Partition,
)
from tests.fakes.batches import record_batch
from tests.unit.domain.partitions.test_partition import append, new_partition


def filled(**config: bool) -> Partition:
    """Offsets 0-2 and 3-4, committed."""
    partition = new_partition(**config)
    append(partition, record_batch(["a", "b", "c"]))
    append(partition, record_batch(["d", "e"]))
    partition.committed(partition.end.copy())
    return partition


def test_the_log_start_moves_with_the_commit() -> None:
    partition = filled()
    assert partition.delete_records(2)
    end = partition.end.copy()
    assert (partition.log_start_offset, partition.end.start_offset) == (0, 2)
    partition.check_readable(0)

    assert partition.committed(end)

    assert partition.log_start_offset == 2
    for offset in (0, 1, 6):
        with pytest.raises(OffsetOutOfRange):
            partition.check_readable(offset)
    partition.check_readable(2)


def test_minus_one_deletes_up_to_the_high_watermark() -> None:
    partition = filled()
    append(partition, record_batch(["not yet"]))
    assert partition.delete_records(UP_TO_HIGH_WATERMARK)
    assert partition.end.start_offset == 5


def test_the_log_start_never_goes_back() -> None:
    partition = filled()
    assert partition.delete_records(4)
    assert not partition.delete_records(4)
    assert not partition.delete_records(1)
    assert partition.end.start_offset == 4


@pytest.mark.parametrize("offset", [-2, 6, 1 << 62])
def test_only_committed_offsets_can_be_deleted(offset: int) -> None:
    partition = filled()
    with pytest.raises(OffsetOutOfRange):
        partition.delete_records(offset)
    assert partition.end.start_offset == 0


def test_records_of_a_compacted_topic_cannot_be_deleted() -> None:
    partition = filled(compacted=True, deletes=False)
    for offset in (0, 1, 99, UP_TO_HIGH_WATERMARK):
        with pytest.raises(PolicyViolation):
            partition.delete_records(offset)


def test_a_deletion_requests_a_snapshot() -> None:
    """A restart does not read the headers of deleted batches."""
    partition = filled()
    assert partition.bytes_since_snapshot < SNAPSHOT_INTERVAL_BYTES
    partition.delete_records(UP_TO_HIGH_WATERMARK)
    assert partition.bytes_since_snapshot >= SNAPSHOT_INTERVAL_BYTES
    snapshot = partition.snapshot()
    assert partition.bytes_since_snapshot == 0

    again = new_partition()
    again.restore(snapshot)

    assert (again.log_start_offset, again.end.next_offset, again.high_watermark) == (5, 5, 5)
    assert not again.delete_records(3)


def test_the_size_is_that_of_the_remaining_batches() -> None:
    partition = new_partition()
    first, second = record_batch(["a", "b"]), record_batch(["c"] * 9)
    append(partition, first)
    append(partition, second)
    assert partition.durable.size_bytes == 0
    partition.committed(partition.end.copy())
    assert partition.durable.size_bytes == len(first) + len(second)

    partition.trimmed(len(first))
    partition.committed(partition.end.copy())
    assert partition.durable.size_bytes == len(second)

    again = new_partition()
    again.restore(partition.snapshot())
    append(again, record_batch(["d"]))
    assert again.end.size_bytes == len(second) + len(record_batch(["d"]))


def test_a_commit_returns_whether_consumers_see_a_change() -> None:
    partition = filled()
    partition.trimmed(10)
    assert not partition.committed(partition.end.copy())
    append(partition, record_batch(["f"]))
    assert partition.committed(partition.end.copy())
