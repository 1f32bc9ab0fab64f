"""Compares a run with an earlier one: what got worse by more than a threshold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from interfaces.spark.jobs.perf.workload import Workload
from interfaces.spark.query.failures import WrongOption

#: The name in the result, the name in lines and pages, and whether more is better.
_COMPARED = (
    ("meanPublishRate", "published records/s", True),
    ("meanConsumeRate", "consumed records/s", True),
    ("aggregatedPublishLatency50pct", "publish latency p50, ms", False),
    ("aggregatedPublishLatency99pct", "publish latency p99, ms", False),
    ("aggregatedEndToEndLatency50pct", "end-to-end latency p50, ms", False),
    ("aggregatedEndToEndLatency99pct", "end-to-end latency p99, ms", False),
)
#: Two runs of one workload may differ in these.
_MAY_DIFFER = frozenset({"name", "testDurationMinutes", "warmupDurationMinutes"})


class Compared(NamedTuple):
    name: str
    before: float
    now: float
    #: As a part of the value before; positive is worse.
    worse_by: float
    is_worse: bool

    def line(self) -> str:
        change = (self.now / self.before - 1) * 100 if self.before else 0.0
        mark = "  WORSE" if self.is_worse else ""
        return f"{self.name:28}{self.before:>14,.3f}{self.now:>14,.3f}{change:>+9.1f} %{mark}"


def load_result(file: str, workload: Workload) -> dict[str, Any]:
    """An earlier result of the same workload."""
    try:
        found = json.loads(Path(file).read_text("utf-8"))
        settings = dict(found["settings"])
        sum(found[name] for name, _, _ in _COMPARED)
    except OSError as failure:
        raise WrongOption(f"{file} cannot be read: {failure.strerror}") from None
    except (ValueError, LookupError, TypeError):
        raise WrongOption(f"{file} is no result of `ottla spark perf --json`") from None
    for name, now in workload.to_json().items():
        if name not in _MAY_DIFFER and settings.get(name) != now:
            raise WrongOption(
                f"{file} is of another workload: {name} was {settings.get(name)} and is {now}"
            )
    return dict(found)


def compare(before: Mapping[str, Any], now: Mapping[str, Any], threshold: float) -> list[Compared]:
    """`threshold` is a part of the value before: 0.1 for ten percent."""
    return [
        _compared(label, before[name], now[name], more_is_better, threshold)
        for name, label, more_is_better in _COMPARED
        if before[name] or now[name]
    ]


def _compared(
    label: str, before: float, now: float, more_is_better: bool, threshold: float
) -> Compared:
    change = (now / before - 1) if before else 0.0
    worse_by = -change if more_is_better else change
    return Compared(label, before, now, worse_by, worse_by > threshold)
