"""`ottla-segments`: Spark reads a data folder, with and without its broker."""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from interfaces.spark.query.failures import JobFailed, cause_of
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import new_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The first test of a session waits for Spark's JVM as well.
pytestmark = pytest.mark.timeout(240)

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PER_CODEC = 400
MARKED = b"here the disk goes wrong"
FIRST_TIME = 1_700_000_000_000

Row = tuple[Any, ...]


class Folder(NamedTuple):
    path: str
    topic: str
    #: By partition, as they were acknowledged: key, value, time, headers.
    sent: tuple[list[Row], list[Row]]
    deleted: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Of a broker that was stopped: all codecs, tombstones, headers, a log that starts later, and
    a topic that is gone."""
    with BrokerProcess(tmp_path_factory.mktemp("segments"), "lmdb") as broker:
        topic, deleted = new_topic(broker, 2), new_topic(broker)
        sent: tuple[list[Row], list[Row]] = ([], [])
        for codec in CODECS:
            settings = {"bootstrap.servers": broker.bootstrap, "compression.type": codec}
            producer = Producer({**settings, "linger.ms": 20, "batch.num.messages": 90})
            for number in range(PER_CODEC):
                partition = number % 2
                row = _record(codec, number, len(sent[partition]))
                key, value, time, headers = row
                producer.produce(
                    topic, value, key, partition, timestamp=time, headers=list(headers or ())
                )
                sent[partition].append(row)
            producer.produce(deleted, b"gone")
            assert producer.flush(30) == 0
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        (started,) = admin.delete_records([TopicPartition(topic, 1, 250)]).values()
        assert started.result().low_watermark == 250
        (gone,) = admin.delete_topics([deleted]).values()
        gone.result()
        assert broker.terminate() == 0, broker.log()
        return Folder(str(broker.folder / "data"), topic, sent, deleted)


def _record(codec: str, number: int, offset: int) -> Row:
    value = None if number % 10 == 4 else b"%s %d" % (codec.encode(), number) * 20
    if (codec, number) == ("none", 150):
        value = MARKED
    # Times go back and forth.
    time = FIRST_TIME + offset * 1000 - (number % 7) * 5000
    headers = (("n", b"%d" % number), ("none", None)) if number % 3 == 0 else None
    return b"key-%d" % number, value, time, headers


def read(spark: SparkSession, path: str, **options: str) -> DataFrame:
    return spark.read.format("ottla-segments").options(**options).load(path)


def seen(frame: DataFrame) -> dict[tuple[int, int], Row]:
    found: dict[tuple[int, int], Row] = {}
    for row in frame.collect():
        headers = row.headers and tuple((each.key, _bytes(each.value)) for each in row.headers)
        time = round(row.timestamp.astimezone(UTC).timestamp() * 1000)
        place = row.partition, row.offset
        assert place not in found
        found[place] = _bytes(row.key), _bytes(row.value), time, headers
    return found


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)


def expected(folder: Folder) -> dict[tuple[int, int], Row]:
    return {
        (partition, offset): row
        for partition, rows in enumerate(folder.sent)
        for offset, row in enumerate(rows)
        if partition == 0 or offset >= 250
    }


@pytest.mark.long
def test_all_acknowledged_records_are_read_without_the_broker(
    spark: SparkSession, folder: Folder
) -> None:
    frame = read(spark, folder.path, includeHeaders="true")
    assert [name for name, _ in frame.dtypes] == [
        *("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
    ]
    assert {row.topic for row in frame.select("topic").distinct().collect()} == {folder.topic}
    assert seen(frame) == expected(folder)


def test_executors_share_the_ranges_of_a_partition(spark: SparkSession, folder: Folder) -> None:
    frame = read(spark, folder.path, includeHeaders="true", minPartitions="7")
    assert frame.rdd.getNumPartitions() == 7
    assert seen(frame) == expected(folder)


def filtered_by_spark(frame: DataFrame) -> bool:
    plan = frame._jdf.queryExecution().toString().partition("Physical Plan")[2]
    return " Filter " in plan


def test_filters_are_pushed_down_and_change_nothing(spark: SparkSession, folder: Folder) -> None:
    everything = expected(folder)
    middle = datetime.fromtimestamp((FIRST_TIME + 400_000) / 1000, UTC)
    options = {"includeHeaders": "true", "subscribe": folder.topic, "pushDownFilters": "true"}
    frame = read(spark, folder.path, **options)
    time, offset = frame["timestamp"], frame["offset"]
    later = {place: row for place, row in everything.items() if row[2] >= FIRST_TIME + 400_000}
    for chosen, rows in (
        (frame.where((frame.partition == 1) & (offset < 300)),
         {place: row for place, row in everything.items() if place[0] == 1 and place[1] < 300}),
        (frame.where(time >= middle), later),
        (frame.where(time < middle),
         {place: row for place, row in everything.items() if place not in later}),
    ):  # fmt: skip
        assert rows
        assert seen(chosen) == rows
    assert not filtered_by_spark(frame.where("partition = 1 and offset < 300"))


def test_a_session_without_pushdown_filters_by_itself(spark: SparkSession, folder: Folder) -> None:
    switch = "spark.sql.python.filterPushdown.enabled"
    spark.conf.set(switch, "false")
    try:
        frame = read(spark, folder.path, pushDownFilters="true")
        frame = frame.where("offset between 300 and 309")
        assert filtered_by_spark(frame)
        assert frame.count() == 20
    finally:
        spark.conf.set(switch, "true")


def test_columns_of_batches(spark: SparkSession, folder: Folder) -> None:
    frame = read(spark, folder.path, includeBatches="true", assign=json.dumps({folder.topic: [0]}))
    batches = {row.batchOffset: row for row in frame.collect()}.values()
    sizes: dict[str, list[int]] = {codec: [0, 0] for codec in CODECS}
    for row in batches:
        sizes[row.codec][0] += row.batchOpenedBytes
        sizes[row.codec][1] += row.batchBytes
        assert (row.problem, row.isControl, row.producerId) == (None, False, -1)
    ratios = {codec: opened / stored for codec, (opened, stored) in sizes.items()}
    assert ratios.pop("none") == 1
    assert all(ratio > 3 for ratio in ratios.values()), ratios


def test_a_given_schema_has_only_its_columns(spark: SparkSession, folder: Folder) -> None:
    reader = spark.read.format("ottla-segments")
    frame = reader.schema("offset bigint, codec string").load(folder.path)
    assert frame.columns == ["offset", "codec"]
    assert frame.count() == len(expected(folder))


# ---- recovery


def test_a_damaged_batch_fails_the_query_or_is_a_row(
    spark: SparkSession, folder: Folder, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(folder.path, tmp_path / "data"))
    data = bytearray((copy / "data.mdb").read_bytes())
    place = data.index(MARKED)
    data[place] ^= 1
    (copy / "data.mdb").write_bytes(data)

    frame = read(spark, str(copy), assign=json.dumps({folder.topic: [0]}))
    with pytest.raises(Exception, match="failOnDataLoss=false") as failed:
        frame.collect()
    cause = cause_of(failed.value)
    assert isinstance(cause, JobFailed)
    assert f"{folder.topic}-0" in str(cause)

    told = read(spark, str(copy), failOnDataLoss="false", includeBatches="true", minPartitions="5")
    (row,) = told.where("problem is not null").collect()
    assert (row.value, row.problem) == (None, "the checksum does not match")
    lost = len(expected(folder)) - told.where("problem is null").count()
    assert 0 < lost <= 90


def test_a_copy_of_a_killed_brokers_folder_has_all_acknowledged_records(
    spark: SparkSession, tmp_path: Path
) -> None:
    with BrokerProcess(tmp_path / "broker", "lmdb") as broker:
        topic = new_topic(broker, 2)
        acknowledged: set[bytes] = set()
        enough = threading.Event()

        def told(error: object, message: Any) -> None:
            if error is None:
                acknowledged.add(message.value())
                if len(acknowledged) > 3000:
                    enough.set()

        producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        number = 0
        while not enough.is_set():
            producer.produce(topic, b"%d" % number, on_delivery=told)
            number += 1
            if number % 100 == 0:
                producer.poll(0.01)
        broker.kill()
        producer.purge()
        producer.flush(10)
        copy = shutil.copytree(broker.folder / "data", tmp_path / "copy")
    rows = read(spark, str(copy), subscribePattern=f"{topic}.*").collect()
    assert len({(row.partition, row.offset) for row in rows}) == len(rows)
    assert acknowledged <= {bytes(row.value) for row in rows}


# ---- beside a running broker


class Producing:
    """All the time, in a thread; counts what is acknowledged."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.acknowledged = 0
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 2})
        self._stop = threading.Event()
        self._some = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.is_set():
            for _ in range(200):
                self._producer.produce(self._topic, b"x" * 100, on_delivery=self._told)
            self._producer.flush(30)

    def _told(self, error: object, _: object) -> None:
        assert error is None
        self.acknowledged += 1
        self._some.set()

    def wait_for_more(self) -> int:
        self._some.clear()
        assert self._some.wait(30)
        return self.acknowledged

    def __enter__(self) -> Producing:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@pytest.fixture
def data(spark_broker: BrokerProcess) -> Iterator[str]:
    yield str(spark_broker.folder / "data")
    with spark_broker.connect() as client:  # it is as well as before
        assert client.create_topic(f"after-{id(client)}", 1, {}) == 0


def test_acknowledged_records_are_read_beside_a_running_broker(
    spark: SparkSession, spark_broker: BrokerProcess, data: str
) -> None:
    topic = new_topic(spark_broker, 2)
    with Producing(spark_broker.bootstrap, topic) as producing:
        before = producing.wait_for_more()
        frame = read(spark, data, subscribe=topic, minPartitions="5")
        offsets = [
            (row.partition, row.offset) for row in frame.select("partition", "offset").collect()
        ]
        assert len(offsets) >= before
        counts = Counter(partition for partition, _ in offsets)
        for partition, count in counts.items():
            assert (partition, count - 1) in offsets
        assert len(set(offsets)) == len(offsets)
    assert read(spark, data, subscribe=topic).count() == producing.acknowledged


def test_a_deleted_topic_is_not_read(
    spark: SparkSession, spark_broker: BrokerProcess, data: str
) -> None:
    doomed, kept = new_topic(spark_broker), new_topic(spark_broker)
    producer = Producer({"bootstrap.servers": spark_broker.bootstrap})
    for topic in (doomed, kept):
        for _ in range(500):
            producer.produce(topic, b"x" * 1000)
    assert producer.flush(30) == 0
    admin = AdminClient({"bootstrap.servers": spark_broker.bootstrap})
    admin.delete_topics([doomed])[doomed].result()
    with pytest.raises(Exception, match=doomed) as failed:
        read(spark, data, subscribe=doomed).count()
    assert isinstance(cause_of(failed.value), JobFailed)
    assert read(spark, data, subscribePattern=f"{doomed}|{kept}").count() == 500
