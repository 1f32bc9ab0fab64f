"""Spark's own Kafka connector against Ottla, and beside the data source `ottla`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import Broker, new_topic
from tests.e2e.spark.kafka.topics import records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def write(frame: DataFrame, connector: str, servers: str, topic: str) -> None:
    writer = frame.write.format(connector).mode("append").option("topic", topic)
    writer.option("kafka.bootstrap.servers", servers).save()


def read(
    spark: SparkSession, connector: str, servers: str, topic: str, **options: Any
) -> DataFrame:
    reader = spark.read.format(connector).option("subscribe", topic)
    return reader.option("kafka.bootstrap.servers", servers).options(**options).load()


def numbered(spark: SparkSession, count: int) -> DataFrame:
    return spark.range(0, count, 1, 2).selectExpr(
        "CAST(id % 97 AS STRING) AS key", "CAST(id AS STRING) AS value"
    )


@pytest.mark.long
def test_the_connector_writes_and_reads(
    spark: SparkSession, connector: str, servers: str, topic: str
) -> None:
    write(numbered(spark, 5_000), connector, servers, topic)
    options = {"includeHeaders": "true", "minPartitions": "5", "startingTimestamp": "0"}
    found = read(spark, connector, servers, topic, **options)
    assert found.columns[-1] == "headers"
    assert found.rdd.getNumPartitions() >= 5
    rows = found.selectExpr("CAST(value AS STRING) AS v", "partition", "offset").collect()
    assert sorted(int(row.v) for row in rows) == list(range(5_000))
    for partition in range(2):
        offsets = sorted(row.offset for row in rows if row.partition == partition)
        assert offsets == list(range(len(offsets)))


@pytest.mark.long
def test_the_connector_streams_and_continues_from_its_checkpoint(
    spark: SparkSession, connector: str, spark_broker: Broker, topic: str, checkpoint: str
) -> None:
    servers = spark_broker.bootstrap
    target = new_topic(spark_broker)

    def copy() -> int:
        reader = spark.readStream.format(connector).option("subscribe", topic)
        reader = reader.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 600)
        rows = reader.option("kafka.bootstrap.servers", servers).load().select("key", "value")
        writer = rows.writeStream.format(connector).option("topic", target)
        writer = writer.option("kafka.bootstrap.servers", servers)
        writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
        query = writer.start()
        assert query.awaitTermination(50), "the query does not end"
        return sum(1 for progress in query.recentProgress if progress["numInputRows"])

    write(numbered(spark, 1_000), connector, servers, topic)
    assert copy() == 2
    write(numbered(spark, 100), connector, servers, topic)
    assert copy() == 1
    assert len(records(servers, target)[0]) == 1_100


@pytest.mark.long
def test_a_stream_continues_from_the_checkpoint_of_the_other_source(
    spark: SparkSession, connector: str, servers: str, topic: str, checkpoint: str, tmp_path: Path
) -> None:
    folder = str(tmp_path / "rows")
    for source in (connector, "ottla", connector):
        write(numbered(spark, 50), connector, servers, topic)
        reader = spark.readStream.format(source).option("subscribe", topic)
        reader = reader.option("startingOffsets", "earliest")
        rows = reader.option("kafka.bootstrap.servers", servers).load()
        writer = rows.select("partition", "offset").writeStream.format("parquet")
        query = writer.trigger(availableNow=True).start(folder, checkpointLocation=checkpoint)
        assert query.awaitTermination(50), "the query does not end"
    found = spark.read.parquet(folder)
    assert (found.count(), found.distinct().count()) == (150, 150)


@pytest.mark.long
def test_each_source_reads_the_others_records_and_partitions_keys_alike(
    spark: SparkSession, connector: str, spark_broker: Broker, servers: str
) -> None:
    def written(writer: str, reader: str) -> set[tuple[int, str, int]]:
        topic = new_topic(spark_broker, 7)
        write(numbered(spark, 300).coalesce(1), writer, servers, topic)
        columns = ("CAST(CAST(value AS STRING) AS INT)", "CAST(key AS STRING)", "partition")
        rows = read(spark, reader, servers, topic).selectExpr(*columns).coalesce(1).collect()
        assert len(rows) == 300
        return {tuple(row) for row in rows}

    found = written("ottla", connector)
    assert {(number, key) for number, key, _ in found} == {(n, str(n % 97)) for n in range(300)}
    assert len({partition for *_, partition in found}) == 7
    assert written(connector, "ottla") == found


def test_both_sources_have_the_same_columns(
    spark: SparkSession, connector: str, servers: str, topic: str
) -> None:
    for headers in ("false", "true"):
        ours, theirs = (
            read(spark, source, servers, topic, includeHeaders=headers).schema
            for source in ("ottla", connector)
        )
        assert ours.simpleString() == theirs.simpleString()
