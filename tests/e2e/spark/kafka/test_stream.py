"""Streams of the data source `ottla`: from a checkpoint, over the death of the broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.spark.kafka.topics import create, fill

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery


def load(spark: SparkSession, servers: str, topic: str, **options: str) -> DataFrame:
    reader = spark.readStream.format("ottla").option("kafka.bootstrap.servers", servers)
    start = {"subscribe": topic, "startingOffsets": "earliest"}
    return reader.options(**start, **options).load()


def to_files(found: DataFrame, folder: Path) -> DataStreamWriter:
    values = found.selectExpr("int(string(value)) v", "partition", "offset")
    to = values.writeStream.format("parquet").option("path", str(folder / "rows"))
    return to.option("checkpointLocation", str(folder / "checkpoint"))


def written(spark: SparkSession, folder: Path) -> list[int]:
    return sorted(row.v for row in spark.read.parquet(str(folder / "rows")).collect())


def numbered(first: int, end: int) -> list[dict[str, object]]:
    return [{"value": b"%d" % n, "partition": n % 2} for n in range(first, end)]


def finished(query: StreamingQuery) -> StreamingQuery:
    assert query.awaitTermination(50)
    return query


def test_a_run_reads_what_is_there_and_the_next_what_came_since(
    spark: SparkSession, servers: str, topic: str, tmp_path: Path
) -> None:
    fill(servers, topic, numbered(0, 500))
    limited = to_files(load(spark, servers, topic, maxOffsetsPerTrigger="200"), tmp_path)
    query = finished(limited.trigger(availableNow=True).start())
    rows = [progress["numInputRows"] for progress in query.recentProgress]
    assert [count for count in rows if count] == [200, 200, 100]
    [source] = query.lastProgress["sources"]
    assert source["endOffset"] == source["latestOffset"]
    assert json.loads(source["endOffset"]) == {topic: {"0": 250, "1": 250}}

    fill(servers, topic, numbered(500, 510))
    again = to_files(load(spark, servers, topic), tmp_path).trigger(availableNow=True)
    finished(again.start())
    assert written(spark, tmp_path) == list(range(510))


@pytest.mark.timeout(120)
def test_a_broker_that_dies_in_the_middle_of_a_stream_costs_no_row_and_doubles_none(
    spark: SparkSession, tmp_path: Path
) -> None:
    with BrokerProcess(tmp_path / "broker") as broker:
        create(broker.bootstrap, "t", 2)
        servers, output = broker.bootstrap, tmp_path / "output"
        fill(servers, "t", numbered(0, 100))
        stream = to_files(load(spark, servers, "t"), output).trigger(processingTime="0 seconds")
        query = stream.start()
        try:
            query.processAllAvailable()
            broker.kill()
            broker.start()
            fill(servers, "t", numbered(100, 200))
            query.processAllAvailable()
            broker.kill()
        finally:
            query.stop()
        broker.start()
        fill(servers, "t", numbered(200, 300))
        last = to_files(load(spark, servers, "t"), output).trigger(availableNow=True)
        finished(last.start())
        assert written(spark, output) == list(range(300))
