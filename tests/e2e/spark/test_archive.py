"""Topics are archived to Parquet and restored; a killed archive has each record once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.main.arguments import parser
from interfaces.spark.jobs import archive, restore
from interfaces.spark.query.failures import JobFailed, WrongOption
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import Broker, new_topic
from tests.e2e.spark.kafka.topics import delete, fill, grow, records
from tests.fakes.batches import Record, record_batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIME_MS = 1_700_000_000_000
#: Calls until Python's interpreter is warm, and more.
MANY = 100


def job(name: str, servers: str, *words: str) -> int:
    parsed = parser().parse_args(["spark", name, "-b", servers, *words])
    return {"archive": archive.run, "restore": restore.run}[name](parsed)


def refused(text: str) -> Any:
    """In one line."""
    return pytest.raises(WrongOption, match=rf"^{text}[^\n]+$")


def fill_days(servers: str, topic: str, count: int) -> None:
    """A record each minute, by turns in two partitions."""
    fill(
        servers,
        topic,
        [
            {
                "key": None if each % 5 == 0 else f"key-{each}",
                "value": None if each % 7 == 0 else json.dumps({"id": each, "name": f"n {each}"}),
                "headers": [("a", b"\x00\xff"), ("a", None), ("e", b"")] if each % 3 == 0 else None,
                "partition": each % 2,
                "timestamp": TIME_MS + each * 60_000,
            }
            for each in range(count)
        ],
        compression_type="zstd",
    )


def test_records_are_archived_and_restored(
    spark: SparkSession, servers: str, topic: str, tmp_path: Path
) -> None:
    count = 2_500  # over three days
    fill_days(servers, topic, count)
    # Names of folders are no patterns.
    folder, file = str(tmp_path / "a [1] {b,c}*"), tmp_path / "result.json"
    report = tmp_path / "report.html"
    results = ("--json", str(file), "--report", str(report))
    words = (topic, "--to", folder, "--json-schema", "id BIGINT, name STRING")
    assert job("archive", servers, *words, "--max-records", "2000", *results) == 0
    result = json.loads(file.read_text())
    assert (result["records"], result["batches"]) == (count, 2)
    assert "2,500" in report.read_text()

    dates = spark.read.parquet(folder).where("json.id = 8 or json.name = 'n 2498'").select("date")
    assert {str(row["date"]) for row in dates.collect()} == {"2023-11-14", "2023-11-16"}
    assert job("archive", servers, *words, *results) == 0
    assert json.loads(file.read_text())["records"] == 0  # nothing is new
    for schema, line in (
        ("id STRING", ".* has struct<id:bigint,name:string> as --json-schema"),
        ("id BIG INT", "--json-schema 'id BIG INT': "),
    ):
        with refused(line):
            job("archive", servers, topic, "--to", folder, "--json-schema", schema)

    back = ("restore", servers, f"file:{folder}", "--prefix", "again-")
    assert job(*back, *results) == 0
    assert records(servers, f"again-{topic}") == records(servers, topic)
    assert json.loads(file.read_text())["records"] == count

    with pytest.raises(JobFailed, match=rf"^again-{topic} has records already; --append"):
        job(*back)
    with pytest.raises(JobFailed, match=r"^no record in .* fits$"):
        job(*back, "--from", "2024-01-01")


@pytest.mark.long
def test_a_folder_continues_only_in_its_place_with_its_newest_checkpoint(
    spark: SparkSession, servers: str, topic: str, tmp_path: Path
) -> None:
    one, other, moved = tmp_path / "one", tmp_path / "other", tmp_path / "moved"
    checkpoint, new, newest = tmp_path / "c1", tmp_path / "c2", tmp_path / "newest"

    def archived(to: Path = one, at: Path = checkpoint) -> int:
        fill_days(servers, topic, 10)
        return job("archive", servers, topic, "--to", str(to), "--checkpoint", str(at))

    assert archived() == 0
    with refused(rf"{one} is an archive .* {new} is new: "):
        archived(at=new)
    with refused(rf"the checkpoint {checkpoint} is not of {other}: "):
        archived(to=other)
    assert not new.exists() and not other.exists()

    backup = shutil.copytree(checkpoint, tmp_path / "backup")
    assert archived() == 0
    checkpoint.rename(newest)
    backup.rename(checkpoint)
    with refused(rf"the checkpoint {checkpoint} is older than {one}: "):
        archived()
    checkpoint.rename(backup)
    newest.rename(checkpoint)

    one.rename(moved)
    with refused(rf"file:{moved} was written as file:{one}, and Spark "):
        archived(to=moved)
    one.symlink_to(moved)
    assert archived() == 0
    assert spark.read.parquet(str(one)).count() == 70


@pytest.mark.long
def test_topics_may_be_added_to_an_archive_and_none_left_out(
    spark: SparkSession, spark_broker: Broker, topic: str, tmp_path: Path
) -> None:
    servers, other, to = spark_broker.bootstrap, new_topic(spark_broker, 2), str(tmp_path / "to")
    fill_days(servers, topic, 10)
    assert job("archive", servers, topic, "--to", to) == 0
    fill_days(servers, other, 20)
    for words in ([other], ["--pattern", other], [other, "--allow-loss"]):
        with refused(rf"{to} is also an archive of {topic}: "):
            job("archive", servers, *words, "--to", to)
    assert job("archive", servers, "--pattern", f"{topic}|{other}", "--to", to) == 0
    counts = spark.read.parquet(to).groupBy("topic").count().collect()
    assert {(row[0], row[1]) for row in counts} == {(topic, 10), (other, 20)}

    delete(servers, topic)
    with pytest.raises(JobFailed, match=rf"^{topic}-0 is not there .* \(--allow-loss goes on"):
        job("archive", servers, topic, other, "--to", to)


@pytest.mark.long
def test_unusual_records_are_restored_from_a_moved_archive(
    spark: SparkSession, lmdb_broker: BrokerProcess, tmp_path: Path
) -> None:
    """No time, a time before 1970, header names that are not UTF-8; empty partitions; topics whose
    names Spark would take for a number and for null."""
    servers, topic = lmdb_broker.bootstrap, new_topic(lmdb_broker, 3)
    headers: list[tuple[str | bytes, bytes | None]] = [(b"a", b"1"), (b"\xff-x", b"2"), ("z", None)]
    sent: list[Record] = [
        *[(b"k", b"0", headers, TIME_MS)] * MANY,
        (b"k", b"1", [], -1),
        (b"k", b"2", [("a", b"")], -5_000),
    ]
    with lmdb_broker.connect() as client:
        assert client.produce(topic, bytes(record_batch(sent)), partition=1).error == 0
    like_values = ("0042", "__HIVE_DEFAULT_PARTITION__")
    for name in like_values:
        fill(servers, name, [b"x"])
    (tmp_path / "made").mkdir()
    made, moved = tmp_path / "made" / "archive", tmp_path / "moved"
    assert job("archive", servers, topic, *like_values, "--to", str(made)) == 0
    made.rename(moved)
    assert job("restore", servers, str(moved), "--prefix", "again-") == 0

    names = [("a", b"1"), ("\N{REPLACEMENT CHARACTER}-x", b"2"), ("z", None)]
    restored = [(b"k", b"0", names, TIME_MS)] * MANY
    restored += [(b"k", b"1", [], -1), (b"k", b"2", [("a", b"")], -1)]
    assert records(servers, f"again-{topic}") == [[], restored, []]
    assert [len(records(servers, f"again-{name}")[0]) for name in like_values] == [1, 1]

    for folder in (tmp_path, next(moved.glob("topic=*"))):
        with refused(rf"{folder} is no archive: "):
            job("restore", servers, str(folder))


@pytest.mark.long
def test_fewer_files_are_one_of_each_topic_and_day_in_a_batch(
    spark: SparkSession, servers: str, topic: str, tmp_path: Path
) -> None:
    fill_days(servers, topic, 2_500)  # over three days
    counts = {}
    for words in ((), ("--fewer-files",)):
        to = tmp_path / f"archive{len(words)}"
        assert job("archive", servers, topic, "--to", str(to), *words) == 0
        rows = spark.read.parquet(str(to)).select("partition", "offset", "date")
        assert {(row[0], row[1]) for row in rows.collect()} == {
            (partition, offset) for partition in (0, 1) for offset in range(1_250)
        }
        counts[words] = len(list(to.glob("topic=*/date=*/*.parquet")))
    assert counts == {(): 2 * 3, ("--fewer-files",): 3}


@pytest.mark.long
def test_a_running_archive_has_new_partitions(
    spark: SparkSession, spark_broker: Broker, topic: str, tmp_path: Path
) -> None:
    servers = spark_broker.bootstrap
    to, done, results = tmp_path / "archive", archive.Archived(), []
    fill_days(servers, topic, 10)
    words = ["spark", "archive", "-b", servers, topic, "--to", str(to), "--every", "100ms"]

    def run() -> None:
        results.append(archive.archive(spark, parser().parse_args(words)))

    def wait_for(records: int) -> None:
        """The test's own time limit ends it."""
        while done.records < records:
            for query in spark.streams.active:
                done.look(query)
            time.sleep(0.05)

    running = threading.Thread(target=run, daemon=True)
    running.start()
    try:
        wait_for(10)
        grow(servers, topic, 3)
        fill(servers, topic, [{"value": b"%d" % each, "partition": 2} for each in range(5)])
        wait_for(15)
    finally:
        for query in spark.streams.active:
            query.stop()
        running.join(60)
    assert [result["records"] for result in results] == [15]
    assert job("restore", servers, str(to), "--prefix", "again-") == 0
    third = records(servers, f"again-{topic}")[2]
    assert [record.value for record in third] == [b"%d" % each for each in range(5)]


@pytest.mark.long
def test_a_killed_archive_continues_without_loss_or_duplicates(
    spark: SparkSession, servers: str, topic: str, tmp_path: Path
) -> None:
    fill_days(servers, topic, 2_000)
    folder = tmp_path / "archive"
    words = ["-b", servers, topic, "--to", str(folder)]
    slow = ["--max-records", "100"]
    small = ["--master", "local[2]", "--conf", "spark.driver.memory=512m"]
    killed = subprocess.Popen(
        [sys.executable, "-m", "interfaces.main", "spark", "archive", *words, *slow, *small],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    commits = folder / "_checkpoint" / "commits"
    while not list(commits.glob("[0-9]*")):
        assert killed.poll() is None, "it ended before it was killed"
        time.sleep(0.02)
    os.killpg(killed.pid, signal.SIGKILL)  # and its JVM, and its workers
    killed.wait()

    before = len(list(commits.glob("[0-9]*")))
    assert job("archive", servers, *words[2:]) == 0
    assert before < len(list(commits.glob("[0-9]*"))), "it was done before it was killed"
    places = spark.read.parquet(str(folder)).select("partition", "offset").collect()
    assert Counter(places).most_common(1)[0][1] == 1
    assert {tuple(each) for each in places} == {(p, o) for p in (0, 1) for o in range(1_000)}
