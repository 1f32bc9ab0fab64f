"""The table of aims: what each figure should be, as a ratio to another broker in the same run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.bench.gauges import Figures
from tests.bench.runs import medians

#: By part, load and broker.
Medians = dict[str, dict[str, dict[str, Figures]]]


@dataclass(frozen=True)
class Aim:
    title: str
    part: str
    #: A prefix of the load's name.
    load: str
    figure: str
    at_least: float | None = None
    at_most: float | None = None
    #: The unit, where the aim is for Ottla's figure itself and not for the ratio.
    absolute: str | None = None
    #: The first word of our contender's name.
    family: str = "ottla"
    #: That of the broker whose figure the ratio is to.
    beside: str = "kafka"

    @property
    def text(self) -> str:
        limit = self.at_least if self.at_most is None else self.at_most
        sign = "≥" if self.at_most is None else "≤"
        return f"{sign} {limit:g}" + (f" {self.absolute}" if self.absolute else "x")

    @property
    def unit(self) -> str:
        return UNITS[self.figure]

    def judge(self, value: float) -> bool:
        if self.at_most is not None:
            return value <= self.at_most
        return self.at_least is not None and value >= self.at_least


RATE, CPU = "requests_per_s", "cpu_us_per_request"
STREAM, CPU_PER_GB = "mb_per_s", "cpu_s_per_gb"
CLEANING = "cleaning_cpu_s_per_gb"
COMMITTED = "committed_share"
KEPT = "kept_share"
SERVED = "served_ms"
MEMORY = "memory"
#: What our contender has without another storage engine.
LMDB = "ottla"
UNITS = {
    RATE: "/s",
    CPU: "us",
    STREAM: "MB/s",
    CPU_PER_GB: "s/GB",
    CLEANING: "s/GB",
    COMMITTED: "x",
    KEPT: "x",
    "ping_p99_us": "us",
    "p50_us": "us",
    "p99_us": "us",
    "ready_ms": "ms",
    SERVED: "ms",
    "recovered_s": "s",
    "rss_anon_mb": "MB",
}

AIMS = [
    Aim("one-record requests, 10 connections: rate", "produce", "10 connections", RATE, 1.3),
    Aim("... CPU per request", "produce", "10 connections", CPU, at_most=0.7),
    Aim("10 connections x 5 in flight: rate", "produce", "10 x 5 in flight", RATE, 2),
    Aim("200 connections: rate", "produce", "200", RATE, 1.4),
    Aim("16 KB batches: rate", "produce", "16 KB", RATE, 1.5),
    Aim("900 KB batches: rate", "produce", "900 KB", RATE, 1),
    Aim("fsync before each response, 10 connections: rate", "fsync", "10 connections", RATE, 3),
    Aim("... 50 x 2 in flight: rate", "fsync", "50 x 2", RATE, 8),
    Aim("Java consumer, 1 KB: MB/s", "java", "consumer, 1 KB", STREAM, 1),
    Aim("... broker CPU per GB", "java", "consumer, 1 KB", CPU_PER_GB, at_most=0.8),
    Aim("librdkafka consumer (Python), 1 KB: MB/s", "librdkafka", "consumer, 1 KB", STREAM, 1),
    Aim("... broker CPU per GB", "librdkafka", "consumer, 1 KB", CPU_PER_GB, at_most=0.8),
    Aim("librdkafka consumer (kcat), 1 KB: MB/s", "librdkafka", "consumer, 1 KB, kcat", STREAM, 1),
    Aim("... broker CPU per GB", "librdkafka", "consumer, 1 KB, kcat", CPU_PER_GB, at_most=0.8),
    Aim("end to end, 100 B, paced: p50", "end-to-end", "500 a second", "p50_us", at_most=0.7),
    Aim("... p99", "end-to-end", "500 a second", "p99_us", at_most=0.5),
    Aim("end to end, 100 B, back to back: p50", "end-to-end", "back", "p50_us", at_most=0.7),
    Aim("... p99", "end-to-end", "back", "p99_us", at_most=0.5),
    Aim(
        "transactions of 10 records, 1 producer: rate",
        *("transactions", "1 producer, 10 "),
        RATE,
        2,
    ),
    Aim("... 20 producers: rate", "transactions", "20 producers, 10 ", RATE, 2),
    Aim("... p99 of their ends", "transactions", "20 producers, 10 ", "p99_us", at_most=1),
    Aim(
        "read_committed / read_uncommitted, a fifth aborted",
        *("transactions", "read_committed", COMMITTED, 0.95),
        absolute="x",
    ),
    Aim("others beside a client over its quota: rate", "quotas", "others", KEPT, 0.8, absolute="x"),
    Aim("produce over TLS, 900 KB batches: MB/s", "tls", "produce, 900", STREAM, 1),
    Aim("fetch over TLS, 1 MB responses: MB/s", "tls", "fetch, 1 MB", STREAM, 1),
    Aim("compaction: CPU per GB written", "soak", "updates, compacted", CLEANING, at_most=1.5),
    Aim("... p99 of produce meanwhile", "soak", "updates, compacted", "ping_p99_us", at_most=1),
    Aim(
        "PostgreSQL beside LMDB, 50 x 2: rate",
        *("engines-postgresql", "50 x 2", RATE, 0.6),
        family="ottla-postgresql",
        beside=LMDB,
    ),
    Aim(
        "PostgreSQL beside three nodes of Kafka, 50 x 2: rate",
        *("engines-replicated", "1 KB, 50 x 2", RATE, 1.5),
        family="ottla-postgresql",
    ),
    Aim(
        "... with a synchronous standby, 10 x 5",
        *("engines-replicated", "1 KB, 10 x 5", RATE, 1),
        family="ottla-postgresql-standby",
    ),
    Aim(
        "1,000 partitions of a killed broker: led again, and served",
        *("failover", "SIGKILL", SERVED),
        at_most=8000,
        absolute="ms",
        family="ottla-postgresql",
    ),
    Aim(
        "... of one that stops",
        *("failover", "SIGTERM", SERVED),
        at_most=1000,
        absolute="ms",
        family="ottla-postgresql",
    ),
    Aim(
        "... moved by a preferred election",
        *("failover", "preferred election after SIGKILL", SERVED),
        at_most=1000,
        absolute="ms",
        family="ottla-postgresql",
    ),
    Aim("start on an empty folder", "startup", "empty", "ready_ms", at_most=0.2),
    Aim("... itself", "startup", "empty", "ready_ms", at_most=500, absolute="ms"),
    Aim("start after SIGKILL", "startup", "after SIGKILL", "recovered_s", at_most=0.2),
    Aim("memory (RssAnon), idle", MEMORY, "idle", "rss_anon_mb", at_most=80, absolute="MB"),
    Aim(
        "memory (RssAnon), most under any load",
        *(MEMORY, "loaded", "rss_anon_mb"),
        at_most=200,
        absolute="MB",
    ),
]


@dataclass(frozen=True)
class Outcome:
    aim: Aim
    ottla: float
    beside: float | None

    @property
    def ratio(self) -> float | None:
        return self.ottla / self.beside if self.beside else None

    @property
    def met(self) -> bool | None:
        """None where there is nothing to compare with."""
        value = self.ottla if self.aim.absolute else self.ratio
        return None if value is None else self.aim.judge(value)


def outcomes(rows: list[dict[str, Any]]) -> Iterator[Outcome | Aim]:
    """Of each aim, or the aim itself where it was not measured."""
    measured = medians(rows) | {MEMORY: memory(rows)}
    for aim in AIMS:
        figures = _figures(measured, aim)
        ours = figures.get(aim.family)
        yield aim if ours is None else Outcome(aim, ours, figures.get(aim.beside))


def memory(rows: list[dict[str, Any]]) -> dict[str, dict[str, Figures]]:
    """By broker: idle on an empty folder, and the most that any run of any load took."""
    idle: dict[str, Figures] = {}
    loaded: dict[str, Figures] = {}
    for row in rows:
        figures = row.get("figures", {})
        family = row["broker"].split()[0]
        if "rss_anon_peak_mb" in figures:
            most = loaded.setdefault(family, {"rss_anon_mb": 0.0})
            most["rss_anon_mb"] = max(most["rss_anon_mb"], figures["rss_anon_peak_mb"])
    for broker, figures in medians(rows).get("startup", {}).get("empty folder", {}).items():
        idle[broker] = {"rss_anon_mb": figures["rss_anon_mb"]}
    return {"idle": idle, "loaded": loaded}


def _figures(measured: Medians, aim: Aim) -> Figures:
    """By family. A load's name may say more than the aim's, so an exact one goes first."""
    loads = measured.get(aim.part, {})
    named = [aim.load] if aim.load in loads else [one for one in loads if one.startswith(aim.load)]
    return {
        broker.split()[0]: figures[aim.figure]
        for load in named[:1]
        for broker, figures in loads[load].items()
        if aim.figure in figures
    }
