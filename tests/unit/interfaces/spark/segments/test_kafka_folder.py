"""The folder of a real, stopped Kafka, read without a copy of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="filters are Spark's")

from pyspark.sql.datasource import GreaterThanOrEqual

from domain.messages.batch import RecordBatch
from infrastructure.kafka_folder.index_entries import INDEX_ENTRY
from infrastructure.kafka_folder.log_writer import LogWriter
from interfaces.spark.query.columns import arrow_columns
from interfaces.spark.query.failures import JobFailed
from interfaces.spark.query.filters import taken
from interfaces.spark.segments.options import SegmentsOptions
from interfaces.spark.segments.planning import plan
from interfaces.spark.segments.ranges import StoredRange
from interfaces.spark.segments.reading import Task, read_range
from tests.fakes.batches import LZ4, record_batch
from tests.fakes.kafka_folder import expected_of, set_recovery_point, unpacked

Rows = list[dict[str, Any]]
CREATE_TIME, LOG_APPEND_TIME = 0, 1


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Do not change it."""
    return unpacked(tmp_path_factory.mktemp("kafka"))


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "data")


def planned(folder: Path, since_ms: int | None = None, **given: str) -> list[StoredRange]:
    filters = []
    if since_ms is not None:
        since = datetime.fromtimestamp(since_ms / 1000, UTC)
        filters.append(GreaterThanOrEqual(("timestamp",), since))
    pushed, _ = taken(filters, exact_times=True)
    return plan(SegmentsOptions({"path": str(folder), **given}), pushed)


def rows(folder: Path, since_ms: int | None = None, **given: str) -> Rows:
    options = SegmentsOptions({"path": str(folder), **given})
    lenient = given.get("failOnDataLoss") == "false"
    task = Task(options.url, arrow_columns(True), since_ms, None, not lenient, False)
    return [
        row
        for part in planned(folder, since_ms, **given)
        for batch in read_range(task, part)
        for row in batch.to_pylist()
    ]


def plain(row: dict[str, Any]) -> list[Any]:
    """As in `expected.json`."""

    def text(data: bytes | None) -> str | None:
        return None if data is None else data.decode()

    headers = [[one["key"], text(one["value"])] for one in row["headers"] or ()]
    kind = row["timestampType"] + 1
    timestamp = round(row["timestamp"].timestamp() * 1000)
    return [row["offset"], kind, timestamp, text(row["key"]), text(row["value"]), headers]


def test_all_records_are_those_that_clients_of_kafka_read(original: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in original.rglob("*")}
    expected = expected_of(original.parent)["topics"]
    for name, partitions in expected.items():
        found = rows(original, topic=name)
        for number, partition in enumerate(partitions):
            of_partition = [plain(row) for row in found if row["partition"] == number]
            assert of_partition == partition["records"], f"{name}-{number}"
    assert {path: path.stat().st_mtime_ns for path in original.rglob("*")} == before


def test_ranges_are_the_bounds_of_each_log(original: Path) -> None:
    expected = expected_of(original.parent)["topics"]
    found = {(str(one.place)): (one.start, one.end) for one in planned(original)}
    for name, partitions in expected.items():
        for number, partition in enumerate(partitions):
            bounds = partition["low"], partition["high"]
            if bounds[0] < bounds[1]:
                assert found[f"{name}-{number}"] == bounds
    assert not any(place.startswith(("deleted", "__cluster_metadata")) for place in found)


def test_a_path_with_meta_properties_is_one_of_kafka(folder: Path, tmp_path: Path) -> None:
    for path in (str(folder), f"kafka://{folder}", f"file://{folder}"):
        assert SegmentsOptions({"path": path}).url == f"kafka://{folder}"
    (folder / "data.mdb").touch()
    assert SegmentsOptions({"path": str(folder)}).url == f"lmdb://{folder}"


# ---- a log with indexes

BATCHES, SEGMENT_BYTES = 60, 12_000


@pytest.fixture
def indexed(folder: Path) -> Path:
    """`segments-1` has 60 batches of two records, in segments with several index entries each."""
    log = folder / "segments-1"
    for path in log.iterdir():
        if path.suffix in (".log", ".snapshot"):
            path.unlink()
    writer = LogWriter(log, SEGMENT_BYTES, 1 << 40)
    for number in range(BATCHES):
        time = 1000 * number
        records = [(b"k", b"v" * 500, (), time), (b"k", b"%d" % number, (), time + 1)]
        batch = record_batch(records, base_offset=2 * number, codec=0 if number % 5 else LZ4)
        writer.append(RecordBatch(memoryview(batch)))
    writer.close(2 * BATCHES)
    assert len(writer.segments) > 2
    assert all(path.stat().st_size >= 8 for path in log.glob("*.index"))
    set_recovery_point(folder, "segments", 2 * BATCHES, partition=1)
    return folder


ONLY = {"assign": '{"segments": [1]}'}


def test_tasks_share_a_log_at_any_offset(indexed: Path) -> None:
    for count in ("2", "7", "120"):
        assert len(planned(indexed, **ONLY, minPartitions=count)) == int(count)
        found = [row["offset"] for row in rows(indexed, **ONLY, minPartitions=count)]
        assert found == list(range(2 * BATCHES))


@pytest.mark.parametrize("number", [0, 1, 7, 13, 30, 58, 59])
def test_a_search_by_time_begins_near_its_record(indexed: Path, number: int) -> None:
    [exact] = planned(indexed, **ONLY, startingTimestamp=str(1000 * number + 1))
    assert exact.start == 2 * number + 1
    found = rows(indexed, 1000 * number, **ONLY)
    assert [row["offset"] for row in found] == list(range(2 * number, 2 * BATCHES))
    # An index entry is at most 4 KiB and a batch before it.
    [near] = planned(indexed, 1000 * number, **ONLY)
    assert 2 * number - 20 <= near.start <= 2 * number


@pytest.mark.parametrize("kind", ["index", "timeindex"])
def test_indexes_are_not_needed(indexed: Path, kind: str) -> None:
    for path in (indexed / "segments-1").glob(f"*.{kind}"):
        path.unlink()
    found = rows(indexed, 30_000, **ONLY, minPartitions="5")
    assert [row["offset"] for row in found] == list(range(60, 2 * BATCHES))


# ---- damage


def change(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def log(folder: Path, number: int = 0) -> Path:
    return sorted((folder / "segments-1").glob("*.log"))[number]


def test_a_damaged_batch_fails_the_query_or_is_skipped(indexed: Path) -> None:
    change(log(indexed), 100, b"x")
    with pytest.raises(JobFailed, match=r"^offset 0 of segments-1 cannot be read: the checksum"):
        rows(indexed, **ONLY)
    found = rows(indexed, **ONLY, failOnDataLoss="false")
    assert [row["offset"] for row in found] == list(range(2, 2 * BATCHES))


def test_a_damaged_header_hides_few_batches(indexed: Path) -> None:
    change(log(indexed), 8, b"\xff\xff\xff\xff")
    found = rows(indexed, **ONLY, failOnDataLoss="false")
    first = found[0]["offset"]
    assert 2 <= first <= 20
    assert [row["offset"] for row in found] == list(range(first, 2 * BATCHES))


def test_a_cut_off_segment_fails_the_query(indexed: Path) -> None:
    path = log(indexed, 1)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 10)
    with pytest.raises(JobFailed, match=r"of segments-1 cannot be read"):
        rows(indexed, **ONLY)


def test_a_log_that_ends_too_early_fails_the_query(indexed: Path) -> None:
    log(indexed, -1).unlink()
    with pytest.raises(JobFailed, match=r"segments-1 is cut off or changed: it ends at offset"):
        rows(indexed, **ONLY)


# ---- folders that are refused


_HOLDS = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_folder_that_kafka_uses_is_refused(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(folder / ".lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()
        with pytest.raises(JobFailed, match="is in use by a running Kafka: stop it first"):
            rows(folder)
        holder.stdin.close()


Changed = Callable[[Path], object]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (
            lambda folder: (folder / ".kafka_cleanshutdown").unlink(),
            r"was not stopped cleanly: it has no \.kafka_cleanshutdown; start and stop Kafka once$",
        ),
        (
            lambda folder: shutil.rmtree(folder / "segments-1"),
            r"has no folder segments-1: is it in another of log.dirs, or of another node\?",
        ),
        (
            lambda folder: (folder / "segments-1" / "partition.metadata").write_bytes(
                (folder / "codecs-0" / "partition.metadata").read_bytes()
            ),
            "belongs to another topic of this name",
        ),
        (lambda folder: (folder / "notes.txt").touch(), "is not a file of Kafka's"),
    ],
)
def test_other_folders_are_refused_in_one_line(folder: Path, spoil: Changed, why: str) -> None:
    spoil(folder)
    with pytest.raises(JobFailed, match=why) as refused:
        rows(folder, **ONLY)
    assert "\n" not in str(refused.value)


def test_a_partition_elsewhere_is_in_nobodys_way(folder: Path) -> None:
    shutil.rmtree(folder / "segments-1")
    assert len(rows(folder, assign='{"segments": [0]}')) == 40


def test_an_index_of_kafka_3_is_used(indexed: Path) -> None:
    """An entry has the last offset of all batches that a follower or the cleaner has appended."""
    for path in (indexed / "segments-1").glob("*.index"):
        entries = list(INDEX_ENTRY.iter_unpack(path.read_bytes()))
        path.write_bytes(b"".join(INDEX_ENTRY.pack(entry[0] + 4, entry[1]) for entry in entries))
    found = [row["offset"] for row in rows(indexed, **ONLY, minPartitions="30")]
    assert found == list(range(2 * BATCHES))
