from __future__ import annotations

from pathlib import Path

import pytest

from infrastructure.kafka_folder.index_entries import TIME_ENTRY
from infrastructure.kafka_folder.time_index import TimeIndex


@pytest.fixture
def index(tmp_path: Path) -> TimeIndex:
    path = tmp_path / "0.timeindex"
    entries = [(1000, 4), (1500, 9), (3000, 20)]
    # The rest of an entry that is cut off does not count.
    path.write_bytes(b"".join(TIME_ENTRY.pack(*entry) for entry in entries) + b"rest")
    return TimeIndex(str(path))


@pytest.mark.parametrize(
    ("timestamp", "offset"),
    [(0, 0), (1000, 0), (1001, 4), (1500, 4), (1501, 9), (3000, 9), (3001, 20)],
)
def test_no_batch_up_to_the_offset_has_the_timestamp(
    index: TimeIndex, timestamp: int, offset: int
) -> None:
    assert index.offset_before(timestamp) == offset


def test_a_segment_ends_with_its_largest_timestamp(index: TimeIndex) -> None:
    assert not index.ends_before(3000)
    assert index.ends_before(3001)


def test_a_missing_index_says_nothing(tmp_path: Path) -> None:
    index = TimeIndex(str(tmp_path / "missing"))
    assert index.offset_before(1 << 62) == 0
    assert not index.ends_before(1 << 62)
