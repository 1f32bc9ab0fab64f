"""The result as JSON: OpenMessaging's names where it has one, ours for the rest."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from interfaces.spark.jobs.perf.checking import Checked
from interfaces.spark.jobs.perf.consuming import Consumed
from interfaces.spark.jobs.perf.plan import Plan
from interfaces.spark.jobs.perf.producing import Produced
from interfaces.spark.jobs.perf.tally import Tally, merged
from interfaces.spark.jobs.perf.workload import Workload
from interfaces.spark.reports.histogram import Histogram

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How long the generator runs alone.
CEILING_S = 3.0
#: OpenMessaging's endings of names, by percentile.
_PLACES = {50.0: "50pct", 75.0: "75pct", 95.0: "95pct", 99.0: "99pct", 99.9: "999pct"}
_DEEPER = {99.99: "9999pct"}


def result_of(
    workload: Workload,
    plan: Plan,
    produced: Sequence[Produced],
    consumed: Sequence[Consumed],
    checked: Checked,
    ceiling: Sequence[Produced],
    about: dict[str, Any],
) -> dict[str, Any]:
    timing = plan.timing
    out = merged([each.tally for each in produced], timing.periods)
    came = merged([each.tally for each in consumed], timing.periods)
    return {
        "workload": workload.name,
        "driver": "Kafka",
        "messageSize": workload.messageSize,
        "topics": workload.topics,
        "partitions": workload.partitionsPerTopic,
        "producersPerTopic": workload.producersPerTopic,
        "consumersPerTopic": workload.subscriptionsPerTopic * workload.consumerPerSubscription,
        "sampleRateMillis": round(timing.period_s * 1000),
        "publishRate": _rates(out.records, timing.period_s),
        "publishErrorRate": _rates(out.errors, timing.period_s),
        "consumeRate": _rates(came.records, timing.period_s),
        "backlog": _backlog(out, came, workload.subscriptionsPerTopic),
        **_latencies("publishLatency", "aggregatedPublishLatency", out),
        **_latencies("endToEndLatency", "aggregatedEndToEndLatency", came),
        **_whole("aggregatedPublishDelayLatency", out.delays, unit=1),
        "publishMBps": _mean(out.bytes, timing.seconds) / 1e6,
        "consumeMBps": _mean(came.bytes, timing.seconds) / 1e6,
        "meanPublishRate": _mean(out.records, timing.seconds),
        "meanConsumeRate": _mean(came.records, timing.seconds),
        "recordsPerPartition": {"published": out.partitions},
        "verification": checked.to_json(),
        "generatorCeiling": _ceiling(ceiling, min(CEILING_S, timing.seconds)),
        "settings": workload.to_json(),
        "about": about,
    }


def about_this_run(spark: SparkSession, servers: str, started: str) -> dict[str, Any]:
    import confluent_kafka

    return {
        "started": started,
        "broker": servers,
        "spark": spark.version,
        "master": spark.sparkContext.master,
        "client": f"confluent-kafka {confluent_kafka.version()}, "
        f"librdkafka {confluent_kafka.libversion()[0]}",
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
    }


def _rates(counts: Sequence[int], seconds: float) -> list[float]:
    return [round(count / seconds, 3) for count in counts]


def _mean(counts: Sequence[int], seconds: float) -> float:
    return round(sum(counts) / seconds, 3)


def _backlog(out: Tally, came: Tally, subscriptions: int) -> list[int]:
    """What was acknowledged and not yet consumed at the end of each period.

    What is consumed before its acknowledgement is heard of is less than none.
    """
    acknowledged, taken = accumulate(out.passed), accumulate(came.passed)
    waiting = [sent * subscriptions - got for sent, got in zip(acknowledged, taken, strict=True)]
    return [max(each, 0) for each in waiting[1:]]


def _latencies(each: str, whole: str, tally: Tally) -> dict[str, Any]:
    """Milliseconds, as OpenMessaging has them: a list for the periods, and of the whole."""
    periods = tally.latencies
    told: dict[str, Any] = {f"{each}Avg": [_ms(one.mean) for one in periods]}
    columns = {**_PLACES, **_DEEPER}
    rows = [one.percentiles(columns) for one in periods]
    for percentile, name in columns.items():
        told[f"{each}{name}"] = [_ms(row[percentile]) for row in rows]
    told[f"{each}Max"] = [_ms(one.max) for one in periods]
    histogram = tally.all_latencies()
    quantiles = {f"{percentile:.6f}": _ms(us) for percentile, us in histogram.curve()}
    return {**told, **_whole(whole, histogram), f"{whole}Quantiles": quantiles}


def _whole(name: str, histogram: Histogram, unit: float = 1000) -> dict[str, float]:
    """`unit` is how many microseconds one of what is told has."""
    found = histogram.percentiles({**_PLACES, **_DEEPER})
    told = {f"{name}Avg": round(histogram.mean / unit, 3)}
    for percentile, ending in {**_PLACES, **_DEEPER}.items():
        told[f"{name}{ending}"] = round(found[percentile] / unit, 3)
    return {**told, f"{name}Max": round(histogram.max / unit, 3)}


def _ms(us: float) -> float:
    return round(us / 1000, 3)


def _ceiling(alone: Sequence[Produced], seconds: float) -> dict[str, Any]:
    records = sum(sum(each.tally.records) for each in alone)
    size_bytes = sum(sum(each.tally.bytes) for each in alone)
    return {
        "what": "the same producers into nothing: no client library, no broker",
        "recordsPerSecond": round(records / seconds, 1),
        "MBps": round(size_bytes / seconds / 1e6, 3),
    }
