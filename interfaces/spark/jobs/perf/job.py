"""ottla spark perf: creates topics, fills, reads and checks them, and deletes them again."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from interfaces.spark.jobs.job import ONE_TRY, kafka_options, require_broker, show_result, spark_of
from interfaces.spark.jobs.perf import report
from interfaces.spark.jobs.perf.checking import check
from interfaces.spark.jobs.perf.clients import (
    consumer_settings,
    producer_settings,
    require_settings,
)
from interfaces.spark.jobs.perf.comparing import Compared, compare, load_result
from interfaces.spark.jobs.perf.plan import Plan, Timing, periods_in, tasks_of
from interfaces.spark.jobs.perf.result import CEILING_S, about_this_run, result_of
from interfaces.spark.jobs.perf.running import (
    master_for,
    require_all_read,
    require_slots,
    run_at_once,
)
from interfaces.spark.jobs.perf.topics import topics_of
from interfaces.spark.jobs.perf.workload import Workload, load
from interfaces.spark.jobs.progress import Progress
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.terminal.endings import complain
from interfaces.terminal.progress import bar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOT_RIGHT, WORSE, NOTHING = 3, 4, 5


def run(parsed: argparse.Namespace) -> int:
    workload = load(
        parsed.workload,
        name=parsed.name,
        topics=parsed.topics,
        partitionsPerTopic=parsed.partitions,
        messageSize=parsed.size,
        producerRate=parsed.rate,
        producersPerTopic=parsed.producers,
        consumerPerSubscription=parsed.consumers,
        keyDistributor=parsed.keys,
        testDurationMinutes=None if parsed.duration is None else parsed.duration / 60,
        warmupDurationMinutes=None if parsed.warm_up is None else parsed.warm_up / 60,
    )
    before = load_result(parsed.against, workload) if parsed.against else None
    options = KafkaOptions(kafka_options(parsed))
    require_settings(options, workload)
    require_broker(options)
    # A task that failed must not send its records once more.
    parsed.spark_settings = [*ONE_TRY, *parsed.spark_settings]
    parsed.master = master_for(parsed.master, workload.tasks)
    with spark_of(parsed) as spark:
        require_slots(spark, workload.tasks)
        made = (workload.topics, workload.partitionsPerTopic, parsed.patience, parsed.keep)
        with topics_of(options, *made) as topics:
            plan = _plan(options, workload, topics, parsed.patience)
            result = _measured(spark, options, workload, plan)
    compared = compare(before, result, parsed.threshold / 100) if before else []
    show_result(
        parsed, result, report.lines(result, compared), lambda: report.report(result, compared)
    )
    return _code(result, compared)


def _measured(
    spark: SparkSession, options: KafkaOptions, workload: Workload, plan: Plan
) -> dict[str, Any]:
    started = datetime.now(UTC).isoformat(timespec="seconds")
    ceiling, _ = run_at_once(spark, plan.alone(min(CEILING_S, workload.seconds)))
    whole = workload.warm_up_s + workload.seconds
    with Progress(lambda seconds: bar(workload.name, seconds / whole)):
        produced, consumed = run_at_once(spark, plan)
    require_all_read(plan, consumed)
    checked = check(plan, produced, consumed)
    about = about_this_run(spark, options.servers, started)
    return result_of(workload, plan, produced, consumed, checked, ceiling, about)


def _code(result: Mapping[str, Any], compared: list[Compared]) -> int:
    if result["verification"]["right"] is False:
        complain("records were lost, duplicated, out of order or corrupt")
        return NOT_RIGHT
    if not result["meanPublishRate"]:
        complain("nothing was published in the measured time")
        return NOTHING
    if any(each.is_worse for each in compared):
        complain("it got worse by more than the threshold")
        return WORSE
    return 0


def _plan(options: KafkaOptions, workload: Workload, topics: list[str], patience_s: float) -> Plan:
    seconds = workload.seconds
    return Plan(
        run=0,
        producer_settings=producer_settings(options, workload),
        consumer_settings=consumer_settings(options, workload),
        tasks=tasks_of(workload, topics),
        patience_s=patience_s,
        servers=options.servers,
        timing=Timing(0.0, workload.warm_up_s, seconds, periods_in(seconds)),
    )
