"""`ottla-segments`: Spark reads a data folder, with and without its broker."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from interfaces.spark.query.failures import JobFailed, cause_of
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import new_topic
from tests.e2e.load import Acknowledged, IdempotentLoad
from tests.e2e.spark.kafka.topics import delete, fill, trim
from tests.fakes.kafka_folder import expected_of, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PER_CODEC = 200
MARKED = b"damaged in a test"
FIRST_TIME = 1_700_000_000_000
#: Of partition 1, after DeleteRecords.
FIRST_OFFSET = 125

Row = tuple[Any, ...]


class Folder(NamedTuple):
    path: str
    topic: str
    #: By partition, in the order of acknowledgement: key, value, time, headers.
    sent: tuple[list[Row], list[Row]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The folder of a stopped broker: all codecs, tombstones, headers, a log start offset above 0,
    and a deleted topic."""
    with BrokerProcess(tmp_path_factory.mktemp("segments"), "lmdb") as broker:
        topic, deleted = new_topic(broker, 2), new_topic(broker)
        sent: tuple[list[Row], list[Row]] = ([], [])
        for codec in CODECS:
            records = []
            for number in range(PER_CODEC):
                rows = sent[number % 2]
                key, value, time, headers = row = _record(codec, number, len(rows))
                record = {"key": key, "value": value, "timestamp": time, "partition": number % 2}
                records.append({**record, "headers": list(headers or ())})
                rows.append(row)
            settings = {"compression_type": codec, "batch_num_messages": 40}
            fill(broker.bootstrap, topic, records, **settings)
        fill(broker.bootstrap, deleted, [b"gone"])
        trim(broker.bootstrap, topic, FIRST_OFFSET, partition=1)
        delete(broker.bootstrap, deleted)
        assert broker.terminate() == 0, broker.log()
        return Folder(str(broker.folder / "data"), topic, sent)


def _record(codec: str, number: int, offset: int) -> Row:
    value = None if number % 10 == 4 else b"%s %d" % (codec.encode(), number) * 20
    if (codec, number) == ("none", 80):
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
        if partition == 0 or offset >= FIRST_OFFSET
    }


def test_all_acknowledged_records_are_read_without_the_broker_by_several_tasks(
    spark: SparkSession, folder: Folder
) -> None:
    frame = read(spark, folder.path, includeHeaders="true", minPartitions="5")
    assert [name for name, _ in frame.dtypes] == [
        *("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
    ]
    assert frame.rdd.getNumPartitions() == 5
    assert seen(frame) == expected(folder)


def filtered_by_spark(frame: DataFrame) -> bool:
    plan = frame._jdf.queryExecution().toString().partition("Physical Plan")[2]
    return " Filter " in plan


def test_filters_are_pushed_down_and_change_nothing(spark: SparkSession, folder: Folder) -> None:
    everything = expected(folder)
    middle_ms = FIRST_TIME + 200_000
    middle = datetime.fromtimestamp(middle_ms / 1000, UTC)
    options = {"includeHeaders": "true", "subscribe": folder.topic, "pushDownFilters": "true"}
    frame = read(spark, folder.path, **options)
    time, offset = frame["timestamp"], frame["offset"]
    later = {place: row for place, row in everything.items() if row[2] >= middle_ms}
    earlier = {place: row for place, row in everything.items() if place not in later}
    narrow = {place: row for place, row in everything.items() if (1, 0) < place < (1, 150)}
    for chosen, rows in (
        (frame.where((frame.partition == 1) & (offset < 150)), narrow),
        (frame.where(time >= middle), later),
        (frame.where(time < middle), earlier),
    ):
        assert rows
        assert seen(chosen) == rows
    assert not filtered_by_spark(frame.where("partition = 1 and offset < 150"))


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
    reader = spark.read.format("ottla-segments").schema("offset bigint, codec string")
    frame = reader.load(folder.path)
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

    frame = read(spark, str(copy), failOnDataLoss="false", includeBatches="true", minPartitions="5")
    rows = frame.select("value", "problem").collect()
    (damaged,) = (row for row in rows if row.problem is not None)
    assert (damaged.value, damaged.problem) == (None, "the checksum does not match")
    assert 0 < len(expected(folder)) - (len(rows) - 1) <= 40


def test_a_copy_of_a_killed_brokers_folder_has_all_acknowledged_records(
    spark: SparkSession, tmp_path: Path
) -> None:
    acknowledged = Acknowledged()
    with BrokerProcess(tmp_path / "broker", "lmdb") as broker:
        topic = new_topic(broker, 2)
        with IdempotentLoad(broker, topic, 0, acknowledged) as load:
            acknowledged.wait_for_more(1_000)
            broker.kill()
        copy = shutil.copytree(broker.folder / "data", tmp_path / "copy")
    rows = read(spark, str(copy), subscribePattern=f"{topic}.*").collect()
    values = {row.offset: bytes(row.value) for row in rows}
    assert len(values) == len(rows)
    assert load.ledger.items() <= values.items()


# ---- segments


def test_segments_of_files_are_read_beside_a_broker_and_after_its_kill(
    spark: SparkSession, tmp_path: Path
) -> None:
    acknowledged, data = Acknowledged(), tmp_path / "data"
    arguments = ["--storage", f"files://{data}"]
    with BrokerProcess(tmp_path / "broker", "default", arguments=arguments) as broker:
        # Segments roll meanwhile.
        topic = new_topic(broker, 2, segment__ms="50")
        with IdempotentLoad(broker, topic, 0, acknowledged) as load:
            acknowledged.wait_for_more(500)
            before = acknowledged.count
            rows = read(spark, str(data), subscribe=topic, minPartitions="5").collect()
            assert len(rows) >= before
            assert sorted(row.offset for row in rows) == list(range(len(rows)))
            broker.kill()
    assert len(list(data.glob(f"{topic}-0/*.log"))) > 1
    rows = read(spark, str(data), subscribe=topic).collect()
    values = {row.offset: bytes(row.value) for row in rows}
    assert len(values) == len(rows)
    assert load.ledger.items() <= values.items()


def test_the_folder_of_a_stopped_kafka_is_read(spark: SparkSession, tmp_path: Path) -> None:
    kafka = unpacked(tmp_path)
    expected = expected_of(tmp_path)["topics"]["codecs"]
    frame = read(spark, str(kafka), topic="codecs", includeHeaders="true", minPartitions="8")
    assert {
        place: (key and key.decode(), value and value.decode(), time)
        for place, (key, value, time, _) in seen(frame).items()
    } == {
        (partition, offset): (key, value, time)
        for partition, found in enumerate(expected)
        for offset, _, time, key, value, _ in found["records"]
    }
    late = frame.where("timestamp >= timestamp_millis(1700000010000)")
    assert late.count() == sum(
        one[2] >= 1_700_000_010_000 for p in expected for one in p["records"]
    )


# ---- beside a running broker


@pytest.fixture
def data(lmdb_broker: BrokerProcess) -> Iterator[str]:
    yield str(lmdb_broker.folder / "data")
    with lmdb_broker.connect() as client:  # the broker still writes
        assert client.create_topic(f"after-{id(client)}", 1, {}) == 0


def test_acknowledged_records_are_read_beside_a_running_broker(
    spark: SparkSession, lmdb_broker: BrokerProcess, data: str
) -> None:
    topic, acknowledged = new_topic(lmdb_broker, 2), Acknowledged()
    with IdempotentLoad(lmdb_broker, topic, 0, acknowledged) as load:
        acknowledged.wait_for_more(1_000)
        before = acknowledged.count
        rows = read(spark, data, subscribe=topic, minPartitions="5").select("offset").collect()
        assert len(rows) >= before
        assert sorted(row.offset for row in rows) == list(range(len(rows)))
        load.stop()
    rows = read(spark, data, subscribe=topic).orderBy("offset").collect()
    load.check([bytes(row.value) for row in rows])


def test_a_deleted_topic_is_not_read(
    spark: SparkSession, lmdb_broker: BrokerProcess, data: str
) -> None:
    deleted, other = new_topic(lmdb_broker), new_topic(lmdb_broker)
    for topic in (deleted, other):
        fill(lmdb_broker.bootstrap, topic, [b"x" * 1000] * 500)
    delete(lmdb_broker.bootstrap, deleted)
    with pytest.raises(Exception, match=deleted) as failed:
        read(spark, data, subscribe=deleted).count()
    assert isinstance(cause_of(failed.value), JobFailed)
    assert read(spark, data, subscribePattern=f"{deleted}|{other}").count() == 500
