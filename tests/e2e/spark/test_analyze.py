"""`ottla spark analyze` has the figures that plain Python has of the same records."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

from interfaces.main.arguments import parser
from interfaces.spark.jobs.analyze.analysis import run
from interfaces.spark.query.failures import JobFailed, WrongOption
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import new_topic
from tests.fakes.batches import GZIP, NONE, TIMESTAMP, ZSTD, Record
from tests.unit.interfaces.spark.segments.folder import DataFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]], int]
DAY_MS = 86_400_000
PARTITIONS = 2


def rows_of(number: int, count: int, seed: int) -> list[Row]:
    """Few hot keys and many others; all sizes; timestamps that sometimes go back."""
    random = Random(seed)
    rows: list[Row] = []
    at_ms = TIMESTAMP
    for each in range(count):
        at_ms += random.choice((0, 1, 5, 1000, 60_000, -3))
        hot = random.random() < 0.5
        key = f"hot {each % 3}".encode() if hot else f"{number}-{random.randrange(count)}".encode()
        value = None if random.random() < 0.1 else b"v" * random.choice((0, 3, 100, 5000))
        headers = [("trace", b"x" * 9), ("none", None)] if each % 7 == 0 else []
        rows.append((None if each % 11 == 0 else key, value, headers, at_ms))
    return rows


def size(row: Row) -> int:
    key, value, headers, _ = row
    of_headers = sum(len(name) + len(text or b"") for name, text in headers)
    return len(key or b"") + len(value or b"") + of_headers


def part_in_a_thousand(value: float) -> Any:
    return pytest.approx(value, rel=0.001, abs=1)


def middle(values: list[int]) -> int:
    return sorted(values)[-(-len(values) // 2) - 1]


@pytest.fixture(scope="module")
def written() -> list[list[Row]]:
    return [rows_of(0, 900, 1), rows_of(1, 300, 2)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, written: list[list[Row]]) -> DataFolder:
    made = DataFolder(tmp_path_factory.mktemp("analyze") / "data")
    made.path.mkdir()
    ids = made.topic("orders", PARTITIONS)
    made.topic("silent", 3)
    (damaged,) = made.topic("damaged")
    made.append(damaged, ["one", "two"])
    made.append(damaged, ["three"], payload=b"no record at all")
    made.append(damaged, ["four"])
    for partition_id, rows in zip(ids, written, strict=True):
        for start in range(0, len(rows), 50):
            records: list[Record] = list(rows[start : start + 50])
            made.append(partition_id, records, codec=(NONE, GZIP, ZSTD)[start // 50 % 3])
    return made


def analyze(*words: str) -> int:
    return run(parser().parse_args(["spark", "analyze", *words]))


def check_records(topic: dict[str, Any], written: list[list[Row]]) -> None:
    """Compares a topic of any source with plain Python."""
    rows = [row for partition in written for row in partition]
    sizes = [size(row) for row in rows]
    assert topic["records"] == len(rows)
    assert topic["bytes"] == sum(sizes)
    assert topic["key_bytes"] == sum(len(key or b"") for key, *_ in rows)
    assert topic["value_bytes"] == sum(len(value or b"") for _, value, *_ in rows)
    assert topic["null_keys"] == sum(key is None for key, *_ in rows)
    assert topic["tombstones"] == sum(value is None for _, value, *_ in rows)
    assert topic["record_sizes"]["p50"] == part_in_a_thousand(middle(sizes))
    assert topic["record_sizes"]["max"] == max(sizes)
    histogram = {each["to"]: each["records"] for each in topic["record_sizes"]["histogram"]}
    assert +Counter(histogram) == Counter((1 << size.bit_length()) - 1 for size in sizes)
    check_keys(topic, written)
    for number, partition in enumerate(written):
        check_times(topic["partitions"][number], partition)
    moments, width_ms = topic["over_time"]["moments"], topic["over_time"]["seconds"] * 1000
    starts = sorted({at_ms // width_ms * width_ms for *_, at_ms in rows})
    assert [each["ms"] for each in moments] == starts and 100 < len(starts) <= 600
    assert sum(each["records"] for each in moments) == len(rows)
    assert sum(each["bytes"] for each in moments) == sum(sizes)
    largest = max(len(partition) for partition in written)
    assert topic["skew"]["records"] == pytest.approx(largest * len(written) / len(rows))


def check_keys(topic: dict[str, Any], written: list[list[Row]]) -> None:
    keyed = [row for partition in written for row in partition if row[0] is not None]
    counts = Counter(row[0].decode() for row in keyed if row[0] is not None)
    assert topic["keys"]["distinct"] == len(counts)
    in_partitions = [{row[0] for row in partition if row[0]} for partition in written]
    assert topic["keys"]["scattered"] == len(set.intersection(*in_partitions))
    hottest = sorted(counts.items(), key=lambda pair: pair[::-1], reverse=True)[:4]
    assert [(each["key"], each["records"]) for each in topic["hot_keys"]] == hottest
    assert topic["hot_keys"][0]["share"] == pytest.approx(hottest[0][1] / topic["records"])
    newest = [
        row
        for partition in written
        for row in {row[0]: row for row in partition if row[0] is not None}.values()
    ]
    assert topic["compaction"]["records"] == len(newest)
    assert topic["compaction"]["share"] == pytest.approx(len(newest) / topic["records"])
    assert topic["compaction"]["bytes"] == sum(map(size, newest))
    assert topic["compaction"]["tombstones"] == sum(value is None for _, value, *_ in newest)


def check_times(partition: dict[str, Any], rows: list[Row]) -> None:
    between = [after[3] - before[3] for before, after in pairwise(rows)]
    forwards = [each for each in between if each >= 0]
    times = partition["times"]
    assert times["out_of_order"] == len(between) - len(forwards)
    assert times["intervals_ms"]["p50"] == part_in_a_thousand(middle(forwards))
    assert times["intervals_ms"]["max"] == max(forwards)


def test_a_data_folder_has_the_figures_of_what_was_written(
    spark: SparkSession,
    folder: DataFolder,
    written: list[list[Row]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    report, file = tmp_path / "report.html", tmp_path / "result.json"
    words = ("--data", str(folder.path), "--hot-keys", "4", "--disk", "1TB")
    assert analyze(*words, "--json", str(file), "--report", str(report)) == 0

    result = json.loads(file.read_text())
    damaged, orders, silent = result["topics"]
    assert (damaged["records"], damaged["damaged"]) == (3, 1)
    assert damaged["problems"][0].startswith("damaged-0 at offset 2: ")
    assert (orders["topic"], silent["topic"], len(silent["partitions"])) == ("orders", "silent", 3)
    assert (silent["records"], silent["forecast"], silent["hot_keys"]) == (0, None, [])
    check_records(orders, written)
    batches = orders["batches"]
    assert batches["batches"] == 900 // 50 + 300 // 50
    by_codec = {each["codec"]: each for each in batches["codecs"]}
    assert [by_codec[codec]["batches"] for codec in ("none", "gzip", "zstd")] == [8, 8, 8]
    assert by_codec["none"]["ratio"] == 1 < by_codec["gzip"]["ratio"]
    assert batches["records"]["p50"] == batches["records"]["max"] == 50
    stored = [each["batches"]["stored_bytes"] for each in orders["partitions"]]
    assert sum(stored) == batches["stored_bytes"]
    check_forecast(result, written)
    page = report.read_text()
    assert page.count("<svg") == 2 * 3
    assert "hot 0" in page
    printed = capsys.readouterr()
    assert "orders: 1,200 records in 2 partitions" in printed.out
    assert "3 topics, 6 partitions" in printed.err


def check_forecast(result: dict[str, Any], written: list[list[Row]]) -> None:
    """Of stored bytes: each record's share of its batch."""
    orders = result["topics"][1]
    times = [row[3] for partition in written for row in partition]
    span_ms = max(times) - min(times)
    assert span_ms < DAY_MS  # all records are of the last day
    stored = orders["batches"]["stored_bytes"]
    a_day = stored * DAY_MS / span_ms
    assert orders["forecast"]["seconds"] == span_ms / 1000
    assert orders["forecast"]["bytes_per_day"] == pytest.approx(a_day, abs=1)
    assert result["forecast"]["bytes"] > stored
    assert result["forecast"]["bytes_kept"]["30_days"] >= 30 * a_day - 30
    assert result["forecast"]["disk_full_on"] is None  # not within ten years


@pytest.mark.long
def test_over_the_wire_the_figures_are_the_same_without_batches(
    spark: SparkSession,
    lmdb_broker: BrokerProcess,
    written: list[list[Row]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    servers, topic = lmdb_broker.bootstrap, new_topic(lmdb_broker, 2)
    producer = Producer({"bootstrap.servers": servers})
    for number, rows in enumerate(written):
        for key, value, headers, at_ms in rows:
            producer.produce(topic, value, key, number, timestamp=at_ms, headers=headers or None)
    assert producer.flush(30) == 0
    words = ("-b", servers, topic, "--hot-keys", "4")
    assert analyze(*words, "--json", "-") == 0
    result = json.loads(capsys.readouterr().out)
    check_records(result["topics"][0], written)
    assert result["topics"][0]["batches"] is None
    assert "--data" in result["left_out"]

    with pytest.raises((JobFailed, WrongOption), match="nowhere"):
        analyze("-b", servers, "nowhere")

    # And beside the broker that has them, where batches are known again.
    data = lmdb_broker.storage.partition("://")[2]
    assert analyze("--data", data, topic, "--hot-keys", "4", "--json", "-") == 0
    result = json.loads(capsys.readouterr().out)
    assert [each["topic"] for each in result["topics"]] == [topic]
    check_records(result["topics"][0], written)
    assert result["topics"][0]["batches"]["records"]["max"] > 1
