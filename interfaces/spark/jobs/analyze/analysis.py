"""The job: everything is read once; a task counts what passes, and Spark adds up the keys.

What it keeps meanwhile is a row for each key of some thousand records, in memory and on disk, and
never a value.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.errors import BrokerError
from infrastructure.opening import opened_beside
from infrastructure.storage.errors import StorageUnusable
from interfaces.spark.jobs.analyze import keys
from interfaces.spark.jobs.analyze.figures import Figures, of_partition
from interfaces.spark.jobs.analyze.lines import lines
from interfaces.spark.jobs.analyze.page import page_of
from interfaces.spark.jobs.analyze.result import Found, TopicFigures, result_of
from interfaces.spark.jobs.job import kafka_options, spark_of, tell
from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.assignment import assignment_of
from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.segments.options import SegmentsOptions
from interfaces.spark.segments.planning import chosen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORDS_OF_A_TASK = 2_000_000
_HEADER_BYTES = (
    "coalesce(aggregate(headers, 0L, (sum, header) -> "
    "sum + octet_length(header.key) + coalesce(octet_length(header.value), 0)), 0L)"
)


class Source(NamedTuple):
    """What is read, and from where."""

    format: str
    where: str
    options: dict[str, str]

    @property
    def is_store(self) -> bool:
        return self.format == "ottla-segments"


def run(parsed: argparse.Namespace) -> int:
    source = source_of(parsed)
    partitions = partitions_of(source)
    if not partitions:
        raise JobFailed(f"There is no topic in {source.where}")
    count = sum(partitions.values())
    print(
        f"Reading {len(partitions)} topics, {count} partitions, from {source.where}",
        file=sys.stderr,
    )
    with spark_of(parsed) as spark:
        result = look_at(spark, source, partitions, parsed.hot_keys, parsed.disk)
    tell(parsed, result, lines(result), lambda: page_of(result))
    return 0


def source_of(parsed: argparse.Namespace) -> Source:
    topics = {"subscribe": ",".join(parsed.topics)} if parsed.topics else {}
    # What is damaged, or deleted meanwhile, is told, and ends nothing.
    every = {**topics, "includeHeaders": "true", "failOnDataLoss": "false"}
    if parsed.data is not None:
        if parsed.bootstrap_server:
            raise WrongOption("--data and -b exclude each other: a data folder, or a broker")
        options = {**every, "path": parsed.data, "includeBatches": "true"}
        return Source("ottla-segments", parsed.data, options)
    if not topics:
        raise WrongOption("which topics? Without --data they are to be named")
    options = every | kafka_options(parsed)
    return Source("ottla", options["kafka.bootstrap.servers"], options)


def partitions_of(source: Source) -> dict[str, int]:
    """How many each topic has, whether there are records in them or not."""
    found: dict[str, int] = {}
    if source.is_store:
        options = SegmentsOptions(source.options)
        try:
            with opened_beside(options.url) as store:
                places = chosen(options, store.topics.load())
        except (StorageUnusable, BrokerError) as failure:
            raise JobFailed(str(failure)) from None
        names = [place.topic for place in places]
    else:
        asked = KafkaOptions(source.options)
        broker = Broker(asked)
        try:
            names = [place.topic for place in broker.places(assignment_of(asked))]
        finally:
            broker.close()
    for name in names:
        found[name] = found.get(name, 0) + 1
    return found


def look_at(
    spark: SparkSession,
    source: Source,
    partitions: dict[str, int],
    hottest: int = 10,
    disk: int | None = None,
    now_ms: int | None = None,
) -> dict[str, Any]:
    from pyspark import StorageLevel

    from interfaces.spark.jobs.analyze.counting import COUNTED, counted

    now_ms = round(time.time() * 1000) if now_ms is None else now_ms
    rows = _narrowed(spark, source).mapInArrow(partial(counted, now_ms=now_ms), COUNTED)
    rows = rows.persist(StorageLevel.MEMORY_AND_DISK)
    summed = keys.summed(rows).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        topics = {
            topic: TopicFigures(count, source.is_store) for topic, count in partitions.items()
        }
        for (topic, number), figures in _partitions(rows):
            topics[topic].add(number, figures)
        found = Found(topics, keys.of_partitions(summed), keys.of_topics(summed, hottest))
    finally:
        summed.unpersist()
        rows.unpersist()
    return result_of(found, source.where, source.is_store, disk, now_ms)


def _partitions(rows: DataFrame) -> Iterator[tuple[tuple[str, int], Figures]]:
    """One after another, so that those of many are never in memory together."""
    told = rows.where("figures is not null").select("topic", "partition", "figures")
    in_order = told.orderBy("topic", "partition").toLocalIterator()
    for place, ranges in groupby(in_order, key=lambda row: (row["topic"], row["partition"])):
        yield place, of_partition(Figures.from_json(json.loads(row["figures"])) for row in ranges)


def _narrowed(spark: SparkSession, source: Source) -> DataFrame:
    """Sizes in place of values; as many tasks as Spark has cores, also for a single partition,
    and none so long that its progress is not seen."""
    from pyspark.sql import functions as f

    reader = spark.read.format(source.format).options(**source.options)
    parallel = str(spark.sparkContext.defaultParallelism)
    reader = reader.option("maxRecordsPerPartition", str(RECORDS_OF_A_TASK))
    records = reader.option("minPartitions", parallel).load()
    columns = ["topic", "partition", "offset", "key"]
    if source.is_store:
        from interfaces.spark.jobs.analyze.counting import BATCH_COLUMNS

        columns += [*BATCH_COLUMNS, "isControl", "problem"]
    return records.select(
        *columns,
        f.unix_millis("timestamp").alias("at_ms"),
        f.length("key").alias("key_size"),
        f.length("value").alias("value_size"),
        f.expr(_HEADER_BYTES).alias("header_size"),
    )
