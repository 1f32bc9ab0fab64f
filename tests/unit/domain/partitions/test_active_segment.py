"""The active segment: where Kafka would begin a new file."""

from __future__ import annotations

from typing import Any

import pytest

from domain.configs.topic import TopicConfig
from domain.partitions.active_segment import SegmentState
from domain.partitions.partition import Partition
from domain.partitions.snapshot import PartitionSnapshot
from tests.fakes.batches import record_batch
from tests.unit.domain.partitions.test_partition import NOW_MS, append

BATCH_BYTES = len(record_batch(["a"]))


def partition(**config: Any) -> Partition:
    return Partition(7, "orders", 0, TopicConfig(timestamp_after_max_ms=1 << 62, **config))


def base_offsets(log: Partition, *timestamps: int) -> list[int]:
    """Where the active segment begins after each batch of one record."""
    found = []
    for timestamp in timestamps:
        append(log, record_batch(["a"], timestamp=timestamp))
        found.append(log.segment.base_offset)
    return found


def test_a_segment_ends_before_it_exceeds_segment_bytes() -> None:
    log = partition(segment_bytes=3 * BATCH_BYTES)
    assert base_offsets(log, *[NOW_MS] * 7) == [0, 0, 0, 3, 3, 3, 6]


def test_a_batch_larger_than_a_segment_is_a_segment() -> None:
    log = partition(segment_bytes=BATCH_BYTES - 1)
    assert base_offsets(log, *[NOW_MS] * 3) == [0, 1, 2]


def test_a_segment_ends_segment_ms_after_its_first_timestamp() -> None:
    log = partition(segment_ms=10)
    times = [NOW_MS, NOW_MS + 10, NOW_MS - 50, NOW_MS + 11, NOW_MS + 21, NOW_MS + 22]
    assert base_offsets(log, *times) == [0, 0, 0, 3, 3, 5]


@pytest.mark.parametrize("compacted, expected", [(True, [0, 1]), (False, [0, 0])])
def test_with_compaction_a_segment_ends_after_max_compaction_lag_ms(
    compacted: bool, expected: list[int]
) -> None:
    log = partition(compacted=compacted, max_compaction_lag_ms=5)
    assert base_offsets(log, NOW_MS, NOW_MS + 6) == expected


def test_the_time_of_a_segment_begins_with_its_first_batch_that_has_a_timestamp() -> None:
    log = partition(segment_ms=10)
    assert base_offsets(log, -1, NOW_MS, NOW_MS + 10, NOW_MS + 11, -1) == [0, 0, 0, 3, 3]


def test_an_altered_config_takes_effect_with_the_next_batch() -> None:
    log = partition()
    assert base_offsets(log, NOW_MS, NOW_MS + 100) == [0, 0]
    log.configure(TopicConfig(segment_ms=99))
    assert base_offsets(log, NOW_MS + 99, NOW_MS + 100) == [0, 3]
    log.configure(TopicConfig(segment_bytes=2 * BATCH_BYTES))
    assert base_offsets(log, NOW_MS + 100, NOW_MS + 100) == [3, 5]


@pytest.mark.parametrize("snapshot_after", range(7))
def test_a_restart_continues_the_segment(snapshot_after: int) -> None:
    log, again = (partition(segment_bytes=3 * BATCH_BYTES, segment_ms=100) for _ in range(2))
    headers = []
    for number in range(7):
        if number == snapshot_after:
            again.restore(log.snapshot())
        batch = record_batch(["a"], timestamp=NOW_MS + 40 * number)
        append(log, batch)
        headers.append(bytes(batch[:61]))
    for header in headers[snapshot_after:]:
        again.replay(header)

    states = [one.segment.state(one.end.appended_bytes) for one in (log, again)]
    assert states[0] == states[1] == SegmentState(6, BATCH_BYTES, NOW_MS + 240)


def test_without_a_segment_in_the_snapshot_the_whole_log_is_active() -> None:
    log, again = partition(), partition(segment_bytes=3 * BATCH_BYTES)
    base_offsets(log, NOW_MS, NOW_MS)
    snapshot = log.snapshot()
    again.restore(PartitionSnapshot(snapshot.end, snapshot.leader_epochs, []))

    assert base_offsets(again, NOW_MS, NOW_MS) == [0, 3]
