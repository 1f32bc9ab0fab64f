"""ottla spark perf: topics are made, filled, read, checked and removed again."""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from interfaces.spark.failures import JobFailed
from interfaces.spark.jobs.job import kafka_options, spark_of, tell
from interfaces.spark.jobs.perf import report
from interfaces.spark.jobs.perf.checking import check
from interfaces.spark.jobs.perf.clients import check_clients, producer_settings
from interfaces.spark.jobs.perf.comparing import Compared, compare, load_result
from interfaces.spark.jobs.perf.plan import Plan, Timing, tasks_of
from interfaces.spark.jobs.perf.result import CEILING_S, about_this_run, result_of
from interfaces.spark.jobs.perf.running import master_for, require_slots, run_at_once
from interfaces.spark.jobs.perf.workload import Workload, load
from interfaces.spark.jobs.progress import Progress, bar
from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOT_RIGHT, WORSE = 3, 4
#: Of a report over time, at the most.
_PERIODS = 120
_TOPIC_S = 30.0
#: Records under way are bounded by bytes; a batch waits so long for more.
_PRODUCER = {"enable.idempotence": True, "linger.ms": 5, "queue.buffering.max.kbytes": 64 * 1024}
_CONSUMER = {
    "enable.auto.commit": False,
    "auto.offset.reset": "error",
    "fetch.wait.max.ms": 100,
    "queued.max.messages.kbytes": 64 * 1024,
    "fetch.message.max.bytes": 4 * 1024 * 1024,
}


def run(parsed: argparse.Namespace) -> int:
    workload = load(
        parsed.workload,
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
    before = load_result(parsed.against) if parsed.against else None
    options = KafkaOptions(kafka_options(parsed))
    check_clients(*_clients(options, workload), workload.messageSize)
    parsed.master = master_for(parsed.master, workload.tasks)
    with spark_of(parsed) as spark:
        require_slots(spark, workload.tasks)
        with _topics(options, workload, parsed.keep) as topics:
            result = _measured(spark, options, workload, topics)
    compared = compare(before, result, parsed.threshold / 100) if before else []
    tell(parsed, result, report.lines(result, compared), lambda: report.report(result, compared))
    return _code(result["verification"]["right"], compared)


def _measured(
    spark: SparkSession, options: KafkaOptions, workload: Workload, topics: list[str]
) -> dict[str, Any]:
    plan = _plan(options, workload, topics)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    ceiling, _ = run_at_once(spark, plan.alone(min(CEILING_S, workload.seconds)))
    whole = workload.warm_up_s + workload.seconds
    with Progress(lambda seconds: bar(workload.name, seconds / whole)):
        produced, consumed = run_at_once(spark, plan)
    checked = check(plan, produced, consumed)
    about = about_this_run(spark, options.servers, started)
    return result_of(workload, plan, produced, consumed, checked, ceiling, about)


def _code(is_right: bool, compared: list[Compared]) -> int:
    if not is_right:
        print("ottla: records are not as they were sent", file=sys.stderr)
        return NOT_RIGHT
    if any(each.is_worse for each in compared):
        print("ottla: it got worse by more than the threshold", file=sys.stderr)
        return WORSE
    return 0


def _plan(options: KafkaOptions, workload: Workload, topics: list[str]) -> Plan:
    period_s = max(1.0, workload.seconds / _PERIODS)
    producer, consumer = _clients(options, workload)
    return Plan(
        run=secrets.randbits(32),
        producer_settings=producer,
        consumer_settings=consumer,
        tasks=tasks_of(workload, topics),
        timing=Timing(0.0, workload.warm_up_s, workload.seconds, min(period_s, workload.seconds)),
    )


def _clients(options: KafkaOptions, workload: Workload) -> tuple[dict[str, Any], dict[str, Any]]:
    client = options.client()
    producer = producer_settings(_PRODUCER, {**client, **workload.producer})
    return producer, {**_CONSUMER, **client, **workload.consumer}


@contextmanager
def _topics(options: KafkaOptions, workload: Workload, keep: bool) -> Iterator[list[str]]:
    """New ones, so that nobody else's records are among them."""
    from confluent_kafka.admin import NewTopic

    mark = secrets.token_hex(3)
    names = [f"ottla-perf-{mark}-{number}" for number in range(workload.topics)]
    broker = Broker(options)
    new = [NewTopic(name, workload.partitionsPerTopic) for name in names]
    _each_done(broker.admin.create_topics(new, operation_timeout=_TOPIC_S))
    try:
        yield names
    finally:
        if not keep:
            _remove(broker, names)
        broker.close()


def _remove(broker: Broker, topics: list[str]) -> None:
    """What cannot be removed is told; the run is what it is all the same."""
    try:
        _each_done(broker.admin.delete_topics(topics, operation_timeout=_TOPIC_S))
    except JobFailed as failure:
        print(f"ottla: topics of this run are left there: {failure}", file=sys.stderr)


def _each_done(asked: dict[str, Any]) -> None:
    from confluent_kafka import KafkaException

    for topic, answer in asked.items():
        try:
            answer.result(_TOPIC_S)
        except KafkaException as failure:
            raise JobFailed(f"{topic}: {failure.args[0].str()}") from None
