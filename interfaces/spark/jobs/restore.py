"""ottla spark restore: an archive back to topics, each partition in its order.

One task sends all of a partition, by its offsets, and no task runs twice, which would send records
twice: Spark's settings forbid it, and where Spark runs one again all the same, because it has lost
a machine, the job fails. After a failure delete the topics and begin again.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interfaces.spark.jobs.archive_folder import NOTE, ArchiveFolder
from interfaces.spark.jobs.hadoop_files import LOG, literally
from interfaces.spark.jobs.job import (
    ONE_TRY,
    is_local,
    kafka_options,
    require_broker,
    show_result,
    spark_of,
)
from interfaces.spark.jobs.progress import Progress
from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.sink_attempts import one_attempt
from interfaces.spark.kafka.sink_rows import NO_TIME_MS
from interfaces.spark.query.columns import columns
from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.query.ranges import Place
from interfaces.spark.reports import page, plots

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TOPIC_S = 30.0
#: Spark names the folder of null so; a topic may have that name.
_AS_NULL = "__HIVE_DEFAULT_PARTITION__"


def run(parsed: argparse.Namespace) -> int:
    for day in (parsed.first, parsed.last):
        _check_day(day)
    if is_local(parsed.archive):
        folder = Path(parsed.archive)
        if not folder.is_dir():
            raise WrongOption(f"there is no folder {folder}")
        if not (folder / LOG).exists() and not (folder / NOTE).exists():
            raise _no_archive(parsed.archive)
    require_broker(KafkaOptions(kafka_options(parsed)))
    parsed.spark_settings = [*parsed.spark_settings, *ONE_TRY]
    with spark_of(parsed) as spark:
        result = restore(spark, parsed)
    show_result(parsed, result, _lines(result), lambda: _page(result))
    return 0


def _no_archive(folder: str) -> WrongOption:
    return WrongOption(f"{folder} is no archive: name the folder of its --to")


def _check_day(day: str | None) -> None:
    try:
        if day is not None:
            date.fromisoformat(day if _DATE.fullmatch(day) else "")
    except ValueError:
        raise WrongOption(f"{day!r} is no day like 2026-11-22") from None


def restore(spark: SparkSession, parsed: argparse.Namespace) -> dict[str, Any]:
    from pyspark.sql import functions as f

    folder = ArchiveFolder(spark, parsed.archive)
    records = _archived(spark, parsed, folder)
    found = records.groupBy("topic", "partition").agg(f.count("*").alias("records")).collect()
    if not found:
        raise JobFailed(f"no record in {parsed.archive} fits")
    counts = {(parsed.prefix + row["topic"], row["partition"]): row["records"] for row in found}
    had = {parsed.prefix + topic: number for topic, number in folder.partitions.items()}
    _make_topics(KafkaOptions(kafka_options(parsed)), counts, had, parsed.append)
    progress = Progress(lambda _: f"restoring {sum(counts.values()):,} records")
    with progress, one_attempt(spark.sparkContext):
        _written(records, parsed, len(counts))
    return {
        "from": parsed.archive,
        "records": sum(counts.values()),
        "partitions": [
            {"topic": topic, "partition": partition, "records": number}
            for (topic, partition), number in sorted(counts.items())
        ],
    }


def _archived(spark: SparkSession, parsed: argparse.Namespace, folder: ArchiveFolder) -> DataFrame:
    """With a schema: Spark would take a topic 007 for a number."""
    from pyspark.sql import functions as f

    files = [literally(f"{folder.folder}/{file}") for file in folder.files()]
    if not files and folder.has_begun:
        raise JobFailed(f"{parsed.archive} is an archive without a record")
    if not files:
        raise _no_archive(parsed.archive)
    columns_of_all = f"{columns(with_headers=True)}, date date"
    reading = spark.read.schema(columns_of_all).option("basePath", folder.folder)
    records = reading.parquet(*files).withColumn("topic", f.coalesce("topic", f.lit(_AS_NULL)))
    if parsed.topic:
        records = records.where(f.col("topic").isin(parsed.topic))
    if parsed.first:
        records = records.where(f.col("date") >= f.lit(parsed.first).cast("date"))
    if parsed.last:
        records = records.where(f.col("date") <= f.lit(parsed.last).cast("date"))
    return records


def _make_topics(
    options: KafkaOptions,
    counts: Mapping[tuple[str, int], int],
    had: Mapping[str, int],
    append: bool,
) -> None:
    """New ones get as many partitions as they `had`; existing ones need those of the records."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import NewTopic

    broker = Broker(options)
    needed: dict[str, int] = {}
    for topic, partition in counts:
        needed[topic] = max(needed.get(topic, 0), partition + 1)
    there = broker.admin.list_topics(timeout=_TOPIC_S).topics
    for topic in needed.keys() & there.keys():
        has = len(there[topic].partitions)
        if has < needed[topic]:
            raise JobFailed(f"{topic} has {has} partitions, and {needed[topic]} are in the archive")
        if not append and _has_records(broker, [Place(topic, number) for number in range(has)]):
            raise JobFailed(f"{topic} has records already; --append adds to them")
    new = [
        NewTopic(topic, max(needed[topic], had.get(topic, 0)))
        for topic in needed.keys() - there.keys()
    ]
    for topic, made in broker.admin.create_topics(new).items() if new else ():
        try:
            made.result(_TOPIC_S)
        except KafkaException as failure:
            raise JobFailed(f"{topic}: {failure.args[0].str()}") from None


def _has_records(broker: Broker, places: list[Place]) -> bool:
    return broker.earliest(places) != broker.latest(places)


def _written(records: DataFrame, parsed: argparse.Namespace, partitions: int) -> None:
    from pyspark.sql import functions as f

    no_time = f.timestamp_millis(f.lit(NO_TIME_MS))
    named = (
        records.withColumn("topic", f.concat(f.lit(parsed.prefix), "topic"))
        .withColumn("timestamp", f.greatest("timestamp", no_time))
        .drop("date")
    )
    (
        named.repartition(partitions, "topic", "partition")
        .sortWithinPartitions("topic", "partition", "offset")
        .write.format("ottla")
        .options(**kafka_options(parsed), useTimestamp="true")
        .mode("append")
        .save()
    )


# ---- for people


def _lines(result: dict[str, Any]) -> list[str]:
    topics = {each["topic"] for each in result["partitions"]}
    return [f"{result['records']:,} records are in {', '.join(sorted(topics))}"]


def _page(result: dict[str, Any]) -> str:
    rows = [[each["topic"], each["partition"], each["records"]] for each in result["partitions"]]
    shown = [(each["topic"], each["partition"], each["records"]) for each in result["partitions"]]
    return page.page(
        "Restore",
        [
            page.facts({"from": result["from"], "records": result["records"]}),
            page.section(
                "Partitions", plots.partitions("Records of each partition", shown, "records")
            ),
            page.section("Each", page.table(("topic", "partition", "records"), rows)),
        ],
    )
