"""Logs that are compacted later: the records are young, or the disk is full."""

from __future__ import annotations

import pytest

from tests.fakes.batches import record_batch
from tests.unit.application.partitions.test_compaction import (
    BACKOFF_MS,
    append,
    compact,
    compacting,
    records,
)


@pytest.mark.parametrize(("age_ms", "offsets"), [(0, [0, 1, 2, 3, 4]), (60_000, [3, 4])])
def test_records_without_a_timestamp_are_as_old_as_the_next_one(
    age_ms: int, offsets: list[int]
) -> None:
    fake = compacting(min_compaction_lag_ms="60000")
    for _ in range(3):
        fake.append(record_batch([("a", "v", (), -1)]))
    append(fake, *"aa")
    fake.clock.advance(age_ms)
    compact(fake)
    assert [offset for offset, _ in records(fake)] == offsets


def test_after_a_failed_commit_no_log_is_compacted_until_the_next_look() -> None:
    fake = compacting()
    fake.topic("u", cleanup_policy="compact", segment_ms="1")
    for name in ("t", "u"):
        append(fake, *"aaaa", name=name)
    fake.commit.fail_next()
    compact(fake)
    fake.scheduler.advance(BACKOFF_MS - 2000)
    assert (len(records(fake)), len(records(fake, "u"))) == (4, 4)
    compact(fake)
    assert (len(records(fake)), len(records(fake, "u"))) == (2, 2)
