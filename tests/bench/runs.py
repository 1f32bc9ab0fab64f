"""The measured runs, and their order: A, B, A, B, so that other work on the machine affects all
brokers alike and ratios hold even if the figures do not."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from tests.bench.brokers import Broker
from tests.bench.gauges import Figures, Usage
from tests.bench.number import shown
from tests.bench.progress import say
from tests.bench.stage import Stage


class LoadFailed(Exception):
    """The load did not run, or the broker refused it."""


def _nothing(broker: Broker) -> None:
    pass


@dataclass(frozen=True)
class Load:
    """`run` returns the figures; `prepare` runs before and is not measured."""

    name: str
    run: Callable[[Broker], Figures]
    prepare: Callable[[Broker], None] = _nothing


@dataclass
class Runs:
    """All of a report's runs, in order; a run that failed has `failed` instead of figures."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, part: str, load: str, broker: str, figures: Figures) -> None:
        self.rows.append({"part": part, "load": load, "broker": broker, "figures": figures})
        say(f"{part}: {load}: {broker}: {_short(figures)}")

    def add_failure(self, part: str, load: str, broker: str, why: str) -> None:
        self.rows.append({"part": part, "load": load, "broker": broker, "failed": why})
        say(f"{part}: {load}: {broker}: FAILED: {why}")

    def failures(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if "failed" in row]


def medians(rows: Iterable[dict[str, Any]]) -> dict[str, dict[str, dict[str, Figures]]]:
    """By part, load and broker, in the order of the runs; a figure's median of the runs."""
    gathered: dict[str, dict[str, dict[str, list[Figures]]]] = {}
    for row in rows:
        if "figures" in row:
            loads = gathered.setdefault(row["part"], {})
            brokers = loads.setdefault(row["load"], {})
            brokers.setdefault(row["broker"], []).append(row["figures"])
    return {
        part: {
            load: {broker: _median(figures) for broker, figures in brokers.items()}
            for load, brokers in loads.items()
        }
        for part, loads in gathered.items()
    }


def measure(runs: Runs, stage: Stage, part: str, loads: Iterable[Load], rounds: int) -> None:
    for load in loads:
        stage.make_room()
        # A load that failed on a broker is not repeated on it. All brokers start first, so that
        # none is started between two runs.
        left = [
            name
            for name in stage.names
            if _try(runs, stage, part, load.name, name, partial(stage.broker, name))
        ]
        for _ in range(rounds):
            for name in list(left):
                if figures := _try(
                    runs, stage, part, load.name, name, partial(_once, load, stage, name)
                ):
                    runs.add(part, load.name, name, figures)
                else:
                    left.remove(name)
                stage.settle()


T = TypeVar("T")


def _try(
    runs: Runs, stage: Stage, part: str, load: str, name: str, step: Callable[[], T]
) -> T | None:
    """Returns the result of the step, or None: failures become rows of the report."""
    try:
        return step()
    except Exception as failure:
        why = f"{type(failure).__name__}: {failure}"
        if output := stage.lost(name):
            why += f"\nThe broker died. Its output ends:\n{output}"
        runs.add_failure(part, load, name, why)
        return None


def _once(load: Load, stage: Stage, name: str) -> Figures:
    broker = stage.broker(name)
    load.prepare(broker)
    with Usage(broker.pid) as usage:
        figures = load.run(broker)
    if not broker.alive():
        raise LoadFailed("the broker died")
    if "mb" in figures:
        figures = figures | {"cpu_s_per_gb": usage.figures["broker_cpu_s"] / figures["mb"] * 1000}
    return usage.figures | figures


def _median(runs: list[Figures]) -> Figures:
    return {
        key: statistics.median(run[key] for run in runs if key in run)
        for key in dict.fromkeys(key for run in runs for key in run)
    }


_SHOWN = (
    *("requests_per_s", "mb_per_s", "p50_us", "p99_us", "cpu_us_per_request", "cpu_s_per_gb"),
    *("mean_us", "ping_max_us", "ready_ms", "recovered_s", "rss_anon_mb"),
    *("formed_ms", "joined_ms", "left_ms", "moved", "led_ms", "served_ms"),
)


def _short(figures: Figures) -> str:
    return ", ".join(f"{shown(figures[key])} {key}" for key in _SHOWN if key in figures)
