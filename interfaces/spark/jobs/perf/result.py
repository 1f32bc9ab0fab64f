"""The result as JSON, with OpenMessaging's names where it has one."""

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
from interfaces.spark.reports.histogram import PERCENTILES, Histogram

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How long the generator runs without a broker.
CEILING_S = 3.0
#: OpenMessaging's endings of names, by percentile.
_ENDINGS = dict(
    zip(PERCENTILES, ("50pct", "75pct", "95pct", "99pct", "999pct", "9999pct"), strict=True)
)


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
    """Acknowledged and not yet consumed at the end of each period; consumers may be ahead of the
    acknowledgement."""
    acknowledged, consumed = accumulate(out.passed), accumulate(came.passed)
    waiting = [sent * subscriptions - got for sent, got in zip(acknowledged, consumed, strict=True)]
    return [max(each, 0) for each in waiting[1:]]


def _latencies(each: str, whole: str, tally: Tally) -> dict[str, Any]:
    """In milliseconds, as OpenMessaging has them: lists of all periods, and of the whole run."""
    rows = [_figures(period, 1000) for period in tally.latencies]
    found: dict[str, Any] = {
        f"{each}{ending}": [row[ending] for row in rows] for ending in _figures(Histogram(), 1)
    }
    histogram = tally.all_latencies()
    quantiles = {f"{percentile:.6f}": _ms(us) for percentile, us in histogram.curve()}
    return {**found, **_whole(whole, histogram), f"{whole}Quantiles": quantiles}


def _whole(name: str, histogram: Histogram, unit: float = 1000) -> dict[str, float]:
    return {f"{name}{ending}": value for ending, value in _figures(histogram, unit).items()}


def _figures(histogram: Histogram, unit: float) -> dict[str, float]:
    """`unit` is in microseconds."""
    found = histogram.percentiles()
    figures = {"Avg": histogram.mean, **{_ENDINGS[each]: value for each, value in found.items()}}
    return {name: round(us / unit, 3) for name, us in {**figures, "Max": histogram.max}.items()}


def _ms(us: float) -> float:
    return round(us / 1000, 3)


def _ceiling(alone: Sequence[Produced], seconds: float) -> dict[str, Any]:
    records = sum(sum(each.tally.records) for each in alone)
    size_bytes = sum(sum(each.tally.bytes) for each in alone)
    return {
        "what": "the same producers without a client library and a broker",
        "recordsPerSecond": round(records / seconds, 1),
        "MBps": round(size_bytes / seconds / 1e6, 3),
    }
