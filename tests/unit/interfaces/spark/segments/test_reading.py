"""The rows of a range of a log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="needs what comes with Spark")

import pyarrow
from crc32c import crc32c

from domain.messages.batch import HEADER_BYTES
from infrastructure.opening import Beside, opened_beside
from interfaces.spark.query.columns import arrow_columns
from interfaces.spark.query.failures import JobFailed
from interfaces.spark.query.filters import Pushed
from interfaces.spark.query.ranges import Place
from interfaces.spark.segments import reading
from interfaces.spark.segments.options import SegmentsOptions
from interfaces.spark.segments.planning import plan
from interfaces.spark.segments.ranges import StoredRange
from interfaces.spark.segments.reading import Task, read_range
from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, Record, record_batch
from tests.unit.interfaces.spark.segments.folder import DataFolder

OF_BATCHES = pyarrow.schema(
    [
        *arrow_columns(True),
        *((name, pyarrow.int64()) for name in ("batchOffset", "producerId")),
        *((f"batch{name}", pyarrow.int32()) for name in ("Records", "Bytes", "OpenedBytes")),
        *((name, pyarrow.string()) for name in ("codec", "problem")),
        ("isControl", pyarrow.bool_()),
    ]
)


@pytest.fixture(params=["lmdb", "files"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> DataFolder:
    return DataFolder(tmp_path / "data", request.param)


def task(folder: DataFolder, **changed: Any) -> Task:
    plain = Task(folder.url, arrow_columns(True), None, None, True, False)
    return plain._replace(**changed)


def rows(folder: DataFolder, where: StoredRange, **changed: Any) -> list[dict[str, Any]]:
    batches = list(read_range(task(folder, **changed), where))
    for each in batches:
        each.validate(full=True)
        assert each.num_rows
    return [row for each in batches for row in each.to_pylist()]


def whole(partition_id: int, end: int, start: int = 0) -> StoredRange:
    return StoredRange(Place("a", 3), start, end, partition_id, start)


def values(found: list[dict[str, Any]]) -> list[Any]:
    return [row["value"] for row in found]


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_a_row_is_the_record(folder: DataFolder, codec: int) -> None:
    (only,) = folder.topic("a")
    records: list[Record] = [
        (b"k", b"v" * 300, [("h", b"1"), ("h", None), (b"\xff", b"")], 1_700_000_000_001),
        (None, None, (), 1_600_000_000_000),
        (b"", b"", (), -1),
    ]
    folder.append(only, records, codec=codec)
    first, second, third = rows(folder, whole(only, 3))
    assert first["headers"] == [
        {"key": "h", "value": b"1"}, {"key": "h", "value": None}, {"key": "\ufffd", "value": b""},
    ]  # fmt: skip
    assert first["timestamp"].isoformat() == "2023-11-14T22:13:20.001000+00:00"
    del first["headers"], first["timestamp"]
    assert first == {
        "key": b"k", "value": b"v" * 300, "topic": "a", "partition": 3, "offset": 0,
        "timestampType": 0,
    }  # fmt: skip
    assert (second["key"], second["value"], second["headers"]) == (None, None, None)
    assert (third["key"], third["value"], third["offset"]) == (b"", b"", 2)
    assert third["timestamp"].isoformat() == "1969-12-31T23:59:59.999000+00:00"


def test_a_log_append_time_is_the_time_of_all(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    folder.append(only, [(None, b"1", (), 5), (None, b"2", (), 6)], log_append_time=True,
                  max_timestamp=9000)  # fmt: skip
    found = rows(folder, whole(only, 2))
    assert [(row["timestamp"].timestamp(), row["timestampType"]) for row in found] == [(9, 1)] * 2


def test_timestamps_beyond_sparks_last_one_become_that(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    folder.append(only, [(None, b"1", (), 2**62)])
    (found,) = read_range(task(folder), whole(only, 1))
    (time_us,) = found.column("timestamp").cast(pyarrow.int64()).to_pylist()
    assert time_us == (2**63 - 1) // 1000 * 1000


def test_only_columns_of_the_schema_are_built(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    folder.append(only, ["1", "2"])
    schema = pyarrow.schema([("offset", pyarrow.int64()), ("codec", pyarrow.string())])
    assert rows(folder, whole(only, 2), schema=schema) == [
        {"offset": 0, "codec": "none"},
        {"offset": 1, "codec": "none"},
    ]


def test_ranges_that_cut_batches_have_each_record_once(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of the store with one batch and with several; reads and chunks that end anywhere."""
    (only,) = folder.topic("a")
    sent: list[bytes] = []
    for number in range(15):
        batches = []
        for codec in (NONE, GZIP, SNAPPY, LZ4)[: 1 + number % 4]:
            batch = [b"%d-%d" % (len(sent), each) * (1 + number % 3 * 2000) for each in range(7)]
            made = record_batch(batch, base_offset=len(sent), codec=codec)
            batches.append((len(sent) + 6, made))
            sent += batch
        folder.put(only, *batches)
    monkeypatch.setattr(reading, "READ_BYTES", 30_000)
    monkeypatch.setattr(reading, "CHUNK_BYTES", 20_000)
    assert values(rows(folder, whole(only, len(sent)))) == sent
    for parts in ("3", "100", "240"):
        options = SegmentsOptions({"path": str(folder.path), "minPartitions": parts})
        ranges = plan(options, Pushed(exact_times=True))
        assert len(ranges) >= int(parts)
        assert [v for each in ranges for v in values(rows(folder, each))] == sent


def test_records_are_filtered_by_timestamp(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    folder.append(only, [(None, b"%d" % time, (), time) for time in (10, 50, 20)])
    folder.append(only, [(None, b"%d" % time, (), time) for time in (30, 40)], codec=ZSTD)
    folder.append(only, ["by the log"], log_append_time=True, max_timestamp=45)
    everything = whole(only, 6)
    assert values(rows(folder, everything, since_ms=40)) == [b"50", b"40", b"by the log"]
    assert values(rows(folder, everything, until_ms=29)) == [b"10", b"20"]
    assert values(rows(folder, everything, since_ms=20, until_ms=44)) == [b"20", b"30", b"40"]
    assert rows(folder, everything, since_ms=51) == []


def test_columns_of_batches(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    folder.append(only, ["x" * 1000] * 20, codec=LZ4, producer_id=77, epoch=0, sequence=0)
    folder.append(only, [(b"\0\0\0\1", b"\0" * 6, (), 5)], control=True)
    folder.append(only, ["last"])
    assert [row["offset"] for row in rows(folder, whole(only, 22))] == [*range(20), 21]
    found = rows(folder, whole(only, 22), schema=OF_BATCHES, include_batches=True)
    assert {row["batchOffset"] for row in found[:20]} == {0}
    assert {(row["codec"], row["producerId"], row["batchRecords"]) for row in found[:20]} == {
        ("lz4", 77, 20)
    }
    assert found[0]["batchBytes"] < 500
    assert found[0]["batchOpenedBytes"] > 20_000 + HEADER_BYTES
    assert [row["isControl"] for row in found[20:]] == [True, False]
    assert found[21]["batchBytes"] == found[21]["batchOpenedBytes"]
    assert {row["problem"] for row in found} == {None}


# ---- damaged batches


def damaged(records: list[Record], start: int, kind: str) -> bytes:
    """A batch as a broken disk or a wrong client may write it."""
    batch = record_batch(records, base_offset=start)
    if kind == "another checksum":
        batch[-1] ^= 1
    elif kind == "not what its codec writes":
        batch[22] |= LZ4
        batch[17:21] = crc32c(bytes(batch[21:])).to_bytes(4, "big")
    elif kind == "no records":
        batch = record_batch(records, base_offset=start, payload=b"\xff" * 100)
    elif kind == "another length":
        batch[8:12] = (1 << 20).to_bytes(4, "big")
    elif kind == "another offset":
        batch[0:8] = (start + 1000).to_bytes(8, "big")
    elif kind == "cut off":
        del batch[40:]
    return bytes(batch)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("another checksum", "the checksum does not match"),
        ("not what its codec writes", "The batch is not valid, or larger than"),
        ("no records", "A "),
        ("another offset", "the header of the batch does not fit its position"),
    ],
)
def test_a_damaged_batch_fails_the_query_or_is_skipped(
    folder: DataFolder, kind: str, why: str
) -> None:
    check_damaged(folder, kind, why)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("another length", "the header of the batch does not fit its position"),
        ("cut off", "40 bytes are not a batch"),
    ],
)
def test_a_batch_without_an_end_hides_no_other_row_of_the_store(
    tmp_path: Path, kind: str, why: str
) -> None:
    check_damaged(DataFolder(tmp_path / "data"), kind, why)


def check_damaged(folder: DataFolder, kind: str, why: str) -> None:
    (only,) = folder.topic("a")
    folder.append(only, ["1", "2"])
    folder.put(only, (4, damaged(["3", "4", "5"], 2, kind)))
    folder.append(only, ["6", "7"])
    with pytest.raises(JobFailed) as failed:
        rows(folder, whole(only, 7))
    assert f"of a-3 cannot be read: {why}" in str(failed.value)
    assert "failOnDataLoss=false" in str(failed.value) and "\n" not in str(failed.value)

    found = rows(folder, whole(only, 7), fail_on_data_loss=False)
    assert values(found) == [b"1", b"2", b"6", b"7"]
    # Ranges before and behind it are not affected.
    assert values(rows(folder, whole(only, 2))) == [b"1", b"2"]
    assert values(rows(folder, whole(only, 7, 5))) == [b"6", b"7"]


def test_damaged_batches_are_counted_once_each(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    folder.append(only, ["1", "2"])
    folder.put(only, (5, damaged(["3", "4", "5", "6"], 2, "another checksum")))
    folder.put(only, (7, damaged(["7", "8"], 6, "no records")))
    folder.append(only, ["9"])
    lenient = {"fail_on_data_loss": False, "include_batches": True, "schema": OF_BATCHES}
    one = whole(only, 9)
    for ranges in ([one], [replace(one, end=4), replace(one, start=4)]):
        found = [row for each in ranges for row in rows(folder, each, **lenient)]
        problems = [(row["offset"], row["problem"]) for row in found if row["problem"]]
        assert [offset for offset, _ in problems] == [2, 6]
        assert problems[0][1] == "the checksum does not match"
        assert [row["value"] for row in found if not row["problem"]] == [b"1", b"2", b"9"]
    # If it starts before the first range, its row has the start of that range.
    (row, *_) = rows(folder, replace(one, start=4, first=4), **lenient)
    assert (row["offset"], row["batchOffset"], row["timestamp"]) == (4, 2, None)
    # It has no timestamp, so filters on timestamps exclude it.
    assert [r["problem"] for r in rows(folder, one, **lenient, since_ms=0)] == [None] * 3


def test_batches_beside_a_damaged_one_in_the_same_row_of_the_store_are_read(
    folder: DataFolder,
) -> None:
    (only,) = folder.topic("a")
    batches = [record_batch([f"{number}"], base_offset=number) for number in range(3)]
    batches[1][-1] ^= 1
    folder.put(only, *enumerate(batches))
    assert values(rows(folder, whole(only, 3), fail_on_data_loss=False)) == [b"0", b"2"]


# ---- beside a running broker


def test_no_transaction_is_open_while_spark_has_a_batch_of_rows(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (only,) = folder.topic("a")
    folder.append(only, ["1"])
    folder.append(only, ["2"])
    monkeypatch.setattr(reading, "CHUNK_BYTES", 1)
    stores: list[Any] = []

    @contextmanager
    def recorded(url: str, known_whole: bool) -> Iterator[Beside]:
        with opened_beside(url, known_whole) as store:
            stores.append(store)
            yield store

    monkeypatch.setattr(reading, "opened_beside", recorded)
    batches = read_range(task(folder), whole(only, 2))
    assert next(batches).num_rows == 1
    _, *readers = stores[0]._store.env.readers().splitlines()
    assert [reader.split()[2] for reader in readers] == ["-"]  # no transaction
    assert [batch.num_rows for batch in batches] == [1]


def test_records_deleted_while_they_are_read_are_lost_data(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    for number in range(4):
        folder.append(only, [f"{number}"], begins_segment=True)
    planned = whole(only, 4)
    folder.start_at(only, 2, removed=True)
    with pytest.raises(JobFailed, match=r"^offsets 0 to 1 of a-3 were deleted before they were"):
        rows(folder, planned)
    assert values(rows(folder, planned, fail_on_data_loss=False)) == [b"2", b"3"]
    folder.delete("a")
    with pytest.raises(JobFailed, match=r"^a-3 was deleted while it was read, at offset 0"):
        rows(folder, planned)
    assert rows(folder, planned, fail_on_data_loss=False) == []


def test_gaps_between_offsets_are_not_lost_data(folder: DataFolder) -> None:
    (only,) = folder.topic("a")
    folder.append(only, ["0"])
    folder.put(only, (5, record_batch(["5"], base_offset=5)))
    assert [row["offset"] for row in rows(folder, whole(only, 6))] == [0, 5]
