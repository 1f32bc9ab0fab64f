"""Topics go to Parquet and come back; a killed archive goes on, and has each record once."""

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
from confluent_kafka import Consumer, Producer, TopicPartition

from interfaces.main.arguments import parser
from interfaces.spark.jobs import archive, restore
from interfaces.spark.query.failures import JobFailed, WrongOption
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import new_topic
from tests.e2e.spark.kafka.topics import delete, grow
from tests.fakes.batches import Record, record_batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIME_MS = 1_700_000_000_000
#: Calls until Python's interpreter is warm, and more.
MANY = 100
Row = tuple[int, bytes | None, bytes | None, int, Any]


def job(name: str, servers: str, *words: str) -> int:
    parsed = parser().parse_args(["spark", name, "-b", servers, *words])
    return {"archive": archive.run, "restore": restore.run}[name](parsed)


def fill(servers: str, topic: str, number: int) -> None:
    producer = Producer({"bootstrap.servers": servers, "compression.type": "zstd"})
    for each in range(number):
        producer.produce(
            topic,
            key=None if each % 5 == 0 else f"key-{each}",
            value=None if each % 7 == 0 else json.dumps({"id": each, "name": f"name {each}"}),
            headers=[("a", b"\x00\xff"), ("a", None), ("e", b"")] if each % 3 == 0 else None,
            partition=each % 2,
            timestamp=TIME_MS + each * 60_000,
        )
    assert producer.flush(30) == 0


def everything(servers: str, topic: str, number: int) -> list[Row]:
    """Partition by partition, in order; without the offsets."""
    facts = {"bootstrap.servers": servers, "group.id": "all", "auto.offset.reset": "earliest"}
    consumer = Consumer(facts)
    consumer.assign([TopicPartition(topic, partition, 0) for partition in (0, 1)])
    found: list[Row] = []
    while len(found) < number:
        for message in consumer.consume(number, 10):
            assert message.error() is None, message.error()
            about = (message.partition() or 0, message.key(), message.value())
            found.append((*about, message.timestamp()[1], message.headers()))
    consumer.close()
    return sorted(found, key=lambda row: row[0])


def test_there_and_back(spark: SparkSession, servers: str, topic: str, tmp_path: Path) -> None:
    fill(servers, topic, 2_500)
    # Names of folders are no patterns.
    folder, file = str(tmp_path / "a [1] {b,c}*"), tmp_path / "result.json"
    report = tmp_path / "report.html"
    results = ("--json", str(file), "--report", str(report))
    words = (topic, "--to", folder, "--json-schema", "id BIGINT, name STRING")
    assert job("archive", servers, *words, "--max-records", "1000", *results) == 0
    result = json.loads(file.read_text())
    assert (result["records"], result["batches"]) == (2_500, 3)
    assert "2,500" in report.read_text()

    rows = spark.read.parquet(folder)
    assert {str(row["date"]) for row in rows.select("date").distinct().collect()} == {
        "2023-11-14", "2023-11-15", "2023-11-16",
    }  # fmt: skip
    assert rows.where("json.id = 8 and json.name = 'name 8'").count() == 1
    assert job("archive", servers, *words, *results) == 0
    assert json.loads(file.read_text())["records"] == 0  # nothing is new
    for other, line in (
        ("id STRING", "has struct<id:bigint,name:string> as --json-schema"),
        ("id BIG INT", r"^--json-schema 'id BIG INT': [^\n]+$"),
    ):
        with pytest.raises(WrongOption, match=line):
            job("archive", servers, topic, "--to", folder, "--json-schema", other)

    back = ("restore", servers, f"file:{folder}", "--prefix", "again-")
    assert job(*back, *results) == 0
    assert everything(servers, f"again-{topic}", 2_500) == everything(servers, topic, 2_500)
    assert json.loads(file.read_text())["records"] == 2_500

    with pytest.raises(JobFailed, match=rf"^again-{topic} has records already; --append"):
        job(*back)
    with pytest.raises(JobFailed, match=r"^no record in .* fits$"):
        job(*back, "--from", "2024-01-01")


@pytest.mark.long
def test_a_folder_and_its_checkpoint_belong_together(
    spark: SparkSession, servers: str, topic: str, tmp_path: Path
) -> None:
    fill(servers, topic, 10)
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    words = (topic, "--to", one, "--checkpoint", str(tmp_path / "c1"))
    assert job("archive", servers, *words) == 0

    new = str(tmp_path / "c2")
    with pytest.raises(WrongOption, match=rf"^{one} is an archive .* {new} is new: [^\n]+$"):
        job("archive", servers, topic, "--to", one, "--checkpoint", new)
    assert not Path(new).exists()
    with pytest.raises(WrongOption, match=rf"^the checkpoint .*c1 is not of {other}: [^\n]+$"):
        job("archive", servers, topic, "--to", other, "--checkpoint", str(tmp_path / "c1"))
    assert not Path(other).exists()

    backup = shutil.copytree(tmp_path / "c1", tmp_path / "backup")
    fill(servers, topic, 10)
    assert job("archive", servers, *words) == 0
    newest = (tmp_path / "c1").rename(tmp_path / "newest")
    backup.rename(tmp_path / "c1")
    fill(servers, topic, 10)
    with pytest.raises(WrongOption, match=rf"^the checkpoint .*c1 is older than {one}: [^\n]+$"):
        job("archive", servers, *words)
    (tmp_path / "c1").rename(backup)
    newest.rename(tmp_path / "c1")
    assert job("archive", servers, *words) == 0
    assert spark.read.parquet(one).count() == 30


@pytest.mark.long
def test_one_that_was_moved_goes_on_where_it_was(
    spark: SparkSession, servers: str, topic: str, tmp_path: Path
) -> None:
    was, moved = tmp_path / "was", tmp_path / "moved"
    fill(servers, topic, 10)
    assert job("archive", servers, topic, "--to", str(was)) == 0
    was.rename(moved)
    fill(servers, topic, 10)
    with pytest.raises(
        WrongOption, match=rf"^file:{moved} was written as file:{was}, and Spark [^\n]+$"
    ):
        job("archive", servers, topic, "--to", str(moved))
    was.symlink_to(moved)
    assert job("archive", servers, topic, "--to", str(was)) == 0
    assert spark.read.parquet(str(was)).count() == 20


@pytest.mark.long
def test_topics_may_be_added_to_an_archive_and_none_left_out(
    spark: SparkSession, spark_broker: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    servers, other, to = spark_broker.bootstrap, new_topic(spark_broker, 2), str(tmp_path / "to")
    fill(servers, topic, 10)
    assert job("archive", servers, topic, "--to", to) == 0
    fill(servers, other, 20)
    left_out = rf"^{to} is also an archive of {topic}: [^\n]+$"
    for words in ([other], ["--pattern", other], [other, "--allow-loss"]):
        with pytest.raises(WrongOption, match=left_out):
            job("archive", servers, *words, "--to", to)
    assert job("archive", servers, "--pattern", f"{topic}|{other}", "--to", to) == 0
    found = spark.read.parquet(to).groupBy("topic").count().collect()
    assert {(row[0], row[1]) for row in found} == {(topic, 10), (other, 20)}

    delete(servers, topic)
    with pytest.raises(JobFailed, match=rf"^{topic}-0 is not there .* \(--allow-loss goes on"):
        job("archive", servers, topic, other, "--to", to)


@pytest.mark.long
def test_odd_records_come_back_from_an_archive_that_was_moved(
    spark: SparkSession, spark_broker: BrokerProcess, tmp_path: Path
) -> None:
    """No time, a time before 1970, header names that are not UTF-8; empty partitions; topics whose
    names Spark would take for a number and for null."""
    servers, topic = spark_broker.bootstrap, new_topic(spark_broker, 3)
    odd: list[tuple[str | bytes, bytes | None]] = [(b"a", b"1"), (b"\xff-x", b"2"), ("z", None)]
    with spark_broker.connect() as client:
        sent: list[Record] = [
            *[(b"k", b"0", odd, TIME_MS)] * MANY,
            (b"k", b"1", [], -1),
            (b"k", b"2", [("a", b"")], -5_000),
        ]
        assert client.produce(topic, bytes(record_batch(sent)), partition=1).error == 0
    names_of_topics = ("0042", "__HIVE_DEFAULT_PARTITION__")
    producer = Producer({"bootstrap.servers": servers})
    for name in names_of_topics:
        producer.produce(name, "x")
    assert producer.flush(10) == 0
    (tmp_path / "made").mkdir()
    made, moved = tmp_path / "made" / "archive", tmp_path / "moved"
    assert job("archive", servers, topic, *names_of_topics, "--to", str(made)) == 0
    made.rename(moved)
    assert job("restore", servers, str(moved), "--prefix", "again-") == 0

    consumer = Consumer({"bootstrap.servers": servers, "group.id": "odd"})
    consumer.assign([TopicPartition(f"again-{topic}", 1, 0)])
    found: list[Any] = []
    while len(found) < MANY + 2:
        found += consumer.consume(MANY, 10)
    partitions = consumer.list_topics(f"again-{topic}", 10).topics[f"again-{topic}"].partitions
    consumer.close()
    assert len(partitions) == 3
    with spark_broker.connect() as client:
        assert [client.usable_partitions(f"again-{name}", 1) for name in names_of_topics] == [1, 1]
    assert [message.value() for message in found] == [*[b"0"] * MANY, b"1", b"2"]
    assert [message.timestamp()[1] for message in found] == [*[TIME_MS] * MANY, -1, -1]
    names = [("a", b"1"), ("\N{REPLACEMENT CHARACTER}-x", b"2"), ("z", None)]
    assert [message.headers() for message in found] == [*[names] * MANY, None, [("a", b"")]]

    for none in (tmp_path, next(moved.glob("topic=*"))):
        with pytest.raises(WrongOption, match=rf"^{none} is no archive: [^\n]+$"):
            job("restore", servers, str(none))


@pytest.mark.parametrize("words", [("--to", "x"), ("t", "--pattern", "t", "--to", "x")])
def test_topics_or_a_pattern_are_named(words: tuple[str, ...]) -> None:
    with pytest.raises(WrongOption, match=r"^name the topics, or give a --pattern$"):
        job("archive", "127.0.0.1:1", *words)


@pytest.mark.long
def test_a_batch_has_one_file_of_each_topic_and_day_where_few_are_wanted(
    spark: SparkSession, servers: str, topic: str, tmp_path: Path
) -> None:
    fill(servers, topic, 2_500)  # over three days
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
def test_one_that_goes_on_archives_a_partition_that_is_new_in_mid_run(
    spark: SparkSession, spark_broker: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    servers = spark_broker.bootstrap
    to, done, results = tmp_path / "archive", archive.Archived(), []
    fill(servers, topic, 10)
    words = ["spark", "archive", "-b", servers, topic, "--to", str(to), "--every", "100ms"]

    def goes_on() -> None:
        results.append(archive.archive(spark, parser().parse_args(words)))

    going_on = threading.Thread(target=goes_on, daemon=True)
    going_on.start()
    try:
        until_there_are(10, spark, done)
        grow(servers, topic, 3)
        producer = Producer({"bootstrap.servers": servers})
        for number in range(5):
            producer.produce(topic, f"{number}", partition=2)
        assert producer.flush(30) == 0
        until_there_are(15, spark, done)
    finally:
        for query in spark.streams.active:
            query.stop()
        going_on.join(60)
    assert [result["records"] for result in results] == [15]
    new = spark.read.parquet(str(to)).where("partition = 2").orderBy("offset").collect()
    assert [bytes(row["value"]) for row in new] == [b"0", b"1", b"2", b"3", b"4"]

    assert job("restore", servers, str(to), "--prefix", "again-") == 0
    with spark_broker.connect() as client:
        assert client.usable_partitions(f"again-{topic}", 3) == 3


def until_there_are(records: int, spark: SparkSession, done: archive.Archived) -> None:
    """The test's own time limit ends it."""
    while done.records < records:
        for query in spark.streams.active:
            done.look(query)
        time.sleep(0.05)


def test_killed_in_the_middle_it_goes_on_and_nothing_is_lost_or_doubled(
    spark: SparkSession, servers: str, topic: str, tmp_path: Path
) -> None:
    fill(servers, topic, 2_000)
    folder = tmp_path / "archive"
    words = ["-b", servers, topic, "--to", str(folder)]
    slow = ["--max-records", "200"]
    small = ["--master", "local[2]", "--conf", "spark.driver.memory=512m"]
    killed = subprocess.Popen(
        [sys.executable, "-m", "interfaces.main", "spark", "archive", *words, *slow, *small],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    done = folder / "_checkpoint" / "commits"
    while len(list(done.glob("[0-9]*"))) < 3:
        assert killed.poll() is None, "it ended before it was killed"
        time.sleep(0.02)
    os.killpg(killed.pid, signal.SIGKILL)  # and its JVM, and its workers
    killed.wait()

    before = len(list(done.glob("[0-9]*")))
    assert job("archive", servers, *words[2:]) == 0
    assert before < len(list(done.glob("[0-9]*"))), "it was done before it was killed"
    places = spark.read.parquet(str(folder)).select("partition", "offset").collect()
    assert Counter(places).most_common(1)[0][1] == 1
    assert {tuple(each) for each in places} == {(p, o) for p in (0, 1) for o in range(1_000)}
