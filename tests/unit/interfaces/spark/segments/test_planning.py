"""The ranges of a query on a data folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="filters are Spark's")

from pyspark.sql.datasource import EqualTo, GreaterThanOrEqual, LessThan

from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.query.filters import taken
from interfaces.spark.segments.options import SegmentsOptions
from interfaces.spark.segments.planning import plan
from tests.fakes.batches import LZ4, Record
from tests.unit.interfaces.spark.segments.folder import DataFolder


@pytest.fixture(params=["lmdb", "files"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> DataFolder:
    return DataFolder(tmp_path / "data", request.param)


def planned(folder: DataFolder, *filters: object, **given: str) -> list[tuple[str, int, int]]:
    pushed, rest = taken(filters, exact_times=True)
    assert rest == []
    ranges = plan(SegmentsOptions({"path": str(folder.path), **given}), pushed)
    return [(str(each.place), each.start, each.end) for each in ranges]


def at(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def timed(*times: int) -> list[Record]:
    return [(b"k", b"v", (), time) for time in times]


def test_committed_records_of_existing_topics_are_read(folder: DataFolder) -> None:
    first, second = folder.topic("a", 2)
    (other,) = folder.topic("b")
    (gone,) = folder.topic("gone")
    folder.append(first, ["1", "2", "3"])
    folder.append(first, ["4"])
    folder.append(second, ["1"])
    folder.append(other, ["1", "2"])
    folder.append(gone, ["1"])
    folder.start_at(first, 2)
    folder.delete("gone", dropped=False)
    assert planned(folder) == [("a-0", 2, 4), ("a-1", 0, 1), ("b-0", 0, 2)]
    assert planned(folder, subscribe="b") == [("b-0", 0, 2)]
    assert planned(folder, subscribePattern="[ac]") == [("a-0", 2, 4), ("a-1", 0, 1)]
    assert planned(folder, assign='{"a": [1]}') == [("a-1", 0, 1)]
    with pytest.raises(JobFailed, match=r"^there is no topic gone in /"):
        planned(folder, subscribe="gone")
    with pytest.raises(JobFailed, match=r"^there is no partition a-2 in /"):
        planned(folder, assign='{"a": [0, 2]}')


def test_a_log_that_was_deleted_up_to_its_end_is_empty(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    folder.append(only, ["1", "2"])
    folder.start_at(only, 2, removed=True)
    assert planned(folder) == []
    folder.append(only, ["3"])
    assert planned(folder) == [("a-0", 2, 3)]


def test_a_start_after_the_end_is_refused(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    folder.append(only, timed(1000, 2000, 3000))
    offsets = {"startingOffsets": '{"a": {"0": 2}}', "endingOffsets": '{"a": {"0": 1}}'}
    times = {"startingTimestamp": "3000", "endingTimestamp": "2000"}
    for given in (offsets, times):
        with pytest.raises(WrongOption, match=r"^starting.*: a-0 starts at 2, after its end, 1 \("):
            planned(folder, **given)


def test_offsets_select_the_start_and_the_end(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    folder.append(only, ["1", "2", "3", "4", "5"])
    folder.start_at(only, 1)
    given = {"startingOffsets": '{"a": {"0": 2}}', "endingOffsets": '{"a": {"0": 4}}'}
    assert planned(folder, **given) == [("a-0", 2, 4)]
    edges = {"startingOffsets": '{"a": {"0": -2}}', "endingOffsets": '{"a": {"0": -1}}'}
    assert planned(folder, **edges) == [("a-0", 1, 5)]
    with pytest.raises(WrongOption, match=r"^startingOffsets names b-0, which is not read"):
        planned(folder, startingOffsets='{"a": {"0": 2}, "b": {"0": 1}}')


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"startingOffsets": '{"a": {"0": 0}}'}, [("a-0", 1, 3)]),
        ({"startingOffsets": '{"a": {"0": 9}}'}, []),
        ({"endingOffsets": '{"a": {"0": 9}}'}, [("a-0", 1, 3)]),
    ],
)
def test_missing_offsets_are_lost_data(
    folder: DataFolder, given: dict[str, str], left: list[object]
) -> None:
    (only,) = folder.topic("a")
    folder.append(only, ["1", "2", "3"])
    folder.start_at(only, 1)
    with pytest.raises(JobFailed, match=r"a-0 has no offset \d"):
        planned(folder, **given)
    assert planned(folder, **given, failOnDataLoss="false") == left


def test_a_timestamp_selects_the_first_record_with_it_or_a_later_one(folder: DataFolder) -> None:
    """Timestamps that do not increase, compressed and not, in the time index and not."""
    (only,) = folder.topic("a")
    folder.append(only, timed(1000, 5000, 2000), codec=LZ4, indexed=5000)
    folder.append(only, timed(3000, 3500))
    folder.append(only, timed(9000, 4000), codec=LZ4)
    folder.append(only, timed(9500), log_append_time=True, max_timestamp=9500)
    assert planned(folder, startingTimestamp="2000") == [("a-0", 1, 8)]
    assert planned(folder, startingTimestamp="5001") == [("a-0", 5, 8)]
    assert planned(folder, startingTimestamp="9400") == [("a-0", 7, 8)]
    assert planned(folder, endingTimestamp="5001") == [("a-0", 0, 5)]
    assert planned(folder, endingTimestamp="99999") == [("a-0", 0, 8)]
    by_place = {"startingOffsetsByTimestamp": '{"a": {"0": 9000}}'}
    assert planned(folder, **by_place) == [("a-0", 5, 8)]
    with pytest.raises(JobFailed, match=r"^startingTimestamp: a-0 has no record of 10000 or"):
        planned(folder, startingTimestamp="10000")
    latest = {"startingOffsetsByTimestampStrategy": "latest"}
    assert planned(folder, startingTimestamp="10000", **latest) == []


def test_filters_narrow_the_ranges(folder: DataFolder) -> None:
    first, second = folder.topic("a", 2)
    for partition_id in (first, second):
        folder.append(partition_id, timed(1, 2), indexed=2)
        folder.append(partition_id, timed(3, 1), indexed=3)
        folder.append(partition_id, timed(2, 4))
    assert planned(folder, EqualTo(("partition",), 1)) == [("a-1", 0, 6)]
    assert planned(folder, EqualTo(("topic",), "b")) == []
    offsets = (GreaterThanOrEqual(("offset",), 1), LessThan(("offset",), 3))
    assert planned(folder, *offsets, assign='{"a": [0]}') == [("a-0", 1, 3)]
    # Records before offset 2 are older; later ones may be older again.
    late = planned(folder, GreaterThanOrEqual(("timestamp",), at(3)))
    assert late == [("a-0", 2, 6), ("a-1", 2, 6)]
    early = planned(folder, LessThan(("timestamp",), at(2)), subscribe="a")
    assert early == [("a-0", 0, 6), ("a-1", 0, 6)]
    assert len(planned(folder, minPartitions="6")) == 6
