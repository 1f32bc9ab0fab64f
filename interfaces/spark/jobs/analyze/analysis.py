"""The job: Spark reads the records once, and counts them in a few queries.

It keeps them meanwhile, with their keys and without their values, in memory and on disk.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.errors import BrokerError
from infrastructure.opening import opened_beside
from infrastructure.storage.errors import StorageUnusable
from interfaces.spark.jobs.analyze import counting, keys
from interfaces.spark.jobs.analyze.forecast import end_of
from interfaces.spark.jobs.analyze.lines import lines
from interfaces.spark.jobs.analyze.page import page_of
from interfaces.spark.jobs.analyze.result import Found, result_of
from interfaces.spark.jobs.job import kafka_options, show_result, spark_of
from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.assignment import assignment_of
from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.segments.options import SegmentsOptions
from interfaces.spark.segments.planning import chosen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORDS_OF_A_TASK = 2_000_000


class Source(NamedTuple):
    """A broker or a data folder."""

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
        raise JobFailed(f"there is no topic in {source.where}")
    count = sum(partitions.values())
    print(
        f"Reading {len(partitions)} topics, {count} partitions, from {source.where}",
        file=sys.stderr,
    )
    with spark_of(parsed) as spark:
        result = analyze(spark, source, partitions, parsed.hot_keys, parsed.disk)
    show_result(parsed, result, lines(result), lambda: page_of(result))
    return 0


def source_of(parsed: argparse.Namespace) -> Source:
    topics = {"subscribe": ",".join(parsed.topics)} if parsed.topics else {}
    # Damaged batches are counted, and do not end the job.
    common = {**topics, "includeHeaders": "true", "failOnDataLoss": "false"}
    if parsed.data is not None:
        if parsed.bootstrap_server:
            raise WrongOption("--data and -b exclude each other: a data folder, or a broker")
        options = {**common, "path": parsed.data, "includeBatches": "true"}
        return Source("ottla-segments", parsed.data, options)
    if not topics:
        raise WrongOption("name the topics, or a data folder with --data")
    options = common | kafka_options(parsed)
    return Source("ottla", options["kafka.bootstrap.servers"], options)


def partitions_of(source: Source) -> dict[str, int]:
    """How many each topic has, empty ones included."""
    if source.is_store:
        options = SegmentsOptions(source.options)
        try:
            with opened_beside(options.url) as store:
                places = chosen(options, store.topics.load())
        except (StorageUnusable, BrokerError) as failure:
            raise JobFailed(str(failure)) from None
        names = [place.topic for place in places]
    else:
        kafka = KafkaOptions(source.options)
        broker = Broker(kafka)
        try:
            names = [place.topic for place in broker.places(assignment_of(kafka))]
        finally:
            broker.close()
    return dict(Counter(names))


def analyze(
    spark: SparkSession,
    source: Source,
    partitions: dict[str, int],
    hottest: int = 10,
    disk: int | None = None,
) -> dict[str, Any]:
    now_ms = round(time.time() * 1000)
    rows = counting.without_values(_read(spark, source), source.is_store).persist()
    records = rows.where("is_record")
    counted = (keys.summed(records), counting.by_second(records), counting.by_size(records))
    persisted = [rows, *(each.persist() for each in counted)]
    summed, seconds, by_size = counted
    try:
        figures = counting.figures(by_size)
        end_ms = end_of((each["newest_ms"] for each in figures.values()), now_ms)
        found = Found(
            figures=figures,
            sizes=counting.sizes(by_size),
            intervals=counting.intervals(records),
            not_records=counting.not_records(rows) if source.is_store else {},
            over_time=counting.over_time(seconds, figures),
            last_day=counting.last_day(seconds, end_ms),
            keys_of_partitions=keys.of_partitions(summed),
            keys_of_topics=keys.of_topics(summed, hottest),
        )
        if source.is_store:
            batches = counting.batches(records).persist()
            persisted.append(batches)
            found = found._replace(
                codecs=counting.codecs(batches),
                sizes_of_batches=counting.sizes_of_batches(batches),
            )
    finally:
        for each in persisted:
            each.unpersist()
    return result_of(found, partitions, source.where, disk, end_ms, now_ms)


def _read(spark: SparkSession, source: Source) -> DataFrame:
    """In as many tasks as Spark has cores, also of a single partition, and none so long that
    progress does not show."""
    reader = spark.read.format(source.format).options(**source.options)
    parallel = str(spark.sparkContext.defaultParallelism)
    reader = reader.option("maxRecordsPerPartition", str(RECORDS_OF_A_TASK))
    return reader.option("minPartitions", parallel).load()
