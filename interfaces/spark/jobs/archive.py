"""ottla spark archive: topics to Parquet, each record exactly once.

Spark's checkpoint has the offsets of each batch, and Spark's log of the folder the files of each: a
batch that was written twice counts once.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interfaces.spark.jobs.archive_folder import CHECKPOINT, ArchiveFolder
from interfaces.spark.jobs.job import kafka_options, require_broker, show_result, spark_of
from interfaces.spark.jobs.progress import Progress
from interfaces.spark.kafka import checkpoints
from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.assignment import Assignment, assignment_of
from interfaces.spark.query.failures import WrongOption, cause_of
from interfaces.spark.query.ranges import Place
from interfaces.spark.reports import page, plots

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

#: Of a batch, by default; of 1 KB each that is 200 MB for all tasks together.
MAX_RECORDS = 200_000
_LOOK_S = 0.2
#: The newest batches, which a report shows.
_MOST_BATCHES = 500


@dataclass
class Archived:
    """What a run has written so far."""

    records: int = 0
    count: int = 0
    batches: list[dict[str, Any]] = field(default_factory=list)
    #: The number of the newest batch that is counted.
    newest: int = -1
    #: How many each topic has, by the newest batch.
    partitions: dict[str, int] = field(default_factory=dict)

    def look(self, query: StreamingQuery) -> None:
        """Idle, Spark reports progress of the next batch, which has not started; one that was
        written has metrics."""
        for progress in query.recentProgress:
            written = progress["numInputRows"] and progress["observedMetrics"].get("archived")
            if written and progress["batchId"] > self.newest:
                self._take(progress, written["records"])

    def _take(self, progress: Any, records: int) -> None:
        self.newest = progress["batchId"]
        for source in progress["sources"]:
            self.partitions = _counted(checkpoints.read(json.loads(source["endOffset"])))
        if not records:
            return
        seconds = progress["batchDuration"] / 1000
        batch = {"batch": self.newest, "at": progress["timestamp"]}
        self.batches.append({**batch, "records": records, "seconds": seconds})
        del self.batches[:-_MOST_BATCHES]
        self.records += records
        self.count += 1


def run(parsed: argparse.Namespace) -> int:
    if bool(parsed.topics) == bool(parsed.pattern):
        raise WrongOption("name the topics, or give a --pattern")
    options = KafkaOptions(_options(parsed))
    assignment_of(options)
    require_broker(options)
    with spark_of(parsed) as spark:
        result = archive(spark, parsed)
    show_result(parsed, result, _lines(result), lambda: _page(result))
    return 0


def archive(spark: SparkSession, parsed: argparse.Namespace) -> dict[str, Any]:
    done = Archived()
    options = KafkaOptions(_options(parsed))
    assignment = assignment_of(options)
    records = _records(spark, parsed)
    folder = ArchiveFolder(spark, parsed.to)
    folder.require_all_named(assignment.names, _checkpoint(parsed))
    partitions = _partitions(options, assignment)
    folder.belongs_to(_checkpoint(parsed))
    folder.note_json(_json_of(records))
    folder.note(partitions)
    query = _started(records, parsed)
    try:
        with Progress(lambda _: f"archived {done.records:,} records"):
            while not query.awaitTermination(_LOOK_S):
                done.look(query)
                folder.note(done.partitions)
    except KeyboardInterrupt:
        if parsed.every is None:
            raise
    except Exception as failure:
        cause = cause_of(failure)
        words = str(cause).replace("failOnDataLoss=false", "--allow-loss")
        raise type(cause)(words) from failure
    finally:
        query.stop()  # the next run writes an unfinished batch again
    done.look(query)
    folder.note(done.partitions)
    return {
        "topics": parsed.topics or parsed.pattern,
        "to": parsed.to,
        "records": done.records,
        "batches": done.count,
        "newest_batches": done.batches,
    }


def _partitions(options: KafkaOptions, assignment: Assignment) -> dict[str, int]:
    """How many each existing topic has."""
    broker = Broker(options)
    try:
        return _counted(broker.places(assignment, lenient=True))
    finally:
        broker.close()


def _counted(places: Iterable[Place]) -> dict[str, int]:
    return dict(Counter(place.topic for place in places))


def _json_of(records: DataFrame) -> str:
    if "json" not in records.columns:
        return ""
    return str(records.schema["json"].dataType.simpleString())


def _options(parsed: argparse.Namespace) -> dict[str, str]:
    return {
        **kafka_options(parsed),
        "startingOffsets": "earliest",
        "includeHeaders": "true",
        "failOnDataLoss": str(not parsed.allow_loss).lower(),
        "maxOffsetsPerTrigger": str(parsed.max_records or MAX_RECORDS),
        **(
            {"subscribePattern": parsed.pattern}
            if parsed.pattern
            else {"subscribe": ",".join(parsed.topics)}
        ),
    }


def _records(spark: SparkSession, parsed: argparse.Namespace) -> DataFrame:
    from pyspark.sql import functions as f

    records = spark.readStream.format("ottla").options(**_options(parsed)).load()
    if parsed.json_schema:
        text = f.col("value").cast("string")
        records = records.withColumn("json", f.from_json(text, _schema(parsed.json_schema)))
    dated = records.withColumn("date", f.to_date("timestamp")).observe(
        "archived", f.count(f.lit(1)).alias("records")
    )
    return dated.repartition("topic", "date") if parsed.fewer_files else dated


def _schema(text: str) -> Any:
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType

    try:
        return StructType.fromDDL(text)
    except PySparkException as refusal:
        why = str(refusal.getMessage()).strip().splitlines()[0]
        raise WrongOption(f"--json-schema {text!r}: {why}") from None


def _checkpoint(parsed: argparse.Namespace) -> str:
    return parsed.checkpoint or f"{parsed.to.rstrip('/')}/{CHECKPOINT}"


def _started(records: DataFrame, parsed: argparse.Namespace) -> StreamingQuery:
    writing = (
        records.writeStream.format("parquet")
        .option("path", parsed.to)
        .option("checkpointLocation", _checkpoint(parsed))
        .partitionBy("topic", "date")
    )
    if parsed.every is None:
        return writing.trigger(availableNow=True).start()
    return writing.trigger(processingTime=f"{round(parsed.every * 1000)} milliseconds").start()


# ---- for people


def _lines(result: dict[str, Any]) -> list[str]:
    batches = f"{result['batches']:,} batch{'' if result['batches'] == 1 else 'es'}"
    return [f"{result['records']:,} records were added to {result['to']}, in {batches}"]


def _page(result: dict[str, Any]) -> str:
    batches, topics = result["newest_batches"], result["topics"]
    topics = topics if isinstance(topics, str) else ", ".join(topics)
    shown = {name: result[name] for name in ("to", "records", "batches")}
    columns = ("batch", "at", "records", "seconds")
    rates = [(each["batch"], each["records"] / max(each["seconds"], 0.001)) for each in batches]
    sizes = [(str(each["batch"]), each["records"]) for each in batches]
    return page.page(
        "Archive",
        [
            page.facts({"topics": topics, **shown}),
            page.section("Rate", plots.lines("Rate", [("", rates)], "batch", "records/s")),
            page.section("Batches", plots.bars("Records of each batch", sizes, "records", "batch")),
            page.section(
                "The newest",
                page.table(columns, [[each[name] for name in columns] for each in batches[-50:]]),
            ),
        ],
    )
