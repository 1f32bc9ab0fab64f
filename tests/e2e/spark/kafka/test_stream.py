"""Streams of the data source `ottla`: from a checkpoint, over restarts of the broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.spark.kafka.topics import create, fill

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter


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


def test_a_stream_over_a_killed_broker_loses_and_duplicates_no_row(
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
        finally:
            query.stop()
        fill(servers, "t", numbered(200, 300))
        limited = load(spark, servers, "t", maxOffsetsPerTrigger="60")
        query = to_files(limited, output).trigger(availableNow=True).start()
        assert query.awaitTermination(50)
        rows = [progress["numInputRows"] for progress in query.recentProgress]
        assert [count for count in rows if count] == [60, 40]
        [source] = query.lastProgress["sources"]
        assert json.loads(source["endOffset"]) == {"t": {"0": 150, "1": 150}}
        assert source["endOffset"] == source["latestOffset"]
        assert written(spark, output) == list(range(300))
