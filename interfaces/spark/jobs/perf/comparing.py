"""Two runs side by side: what got worse by more than a threshold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interfaces.spark.jobs.perf.workload import Workload
from interfaces.spark.query.failures import WrongOption

#: What is compared, how people call it, and whether more is better.
_COMPARED = (
    ("meanPublishRate", "published records/s", True),
    ("meanConsumeRate", "consumed records/s", True),
    ("aggregatedPublishLatency50pct", "publish latency p50, ms", False),
    ("aggregatedPublishLatency99pct", "publish latency p99, ms", False),
    ("aggregatedEndToEndLatency50pct", "end-to-end latency p50, ms", False),
    ("aggregatedEndToEndLatency99pct", "end-to-end latency p99, ms", False),
)
#: Of a workload, what makes two runs two different things: all but its name and how long it is.
_OTHERS = frozenset({"name", "testDurationMinutes", "warmupDurationMinutes"})


@dataclass(frozen=True)
class Compared:
    name: str
    before: float
    now: float
    #: In parts of what it was; positive is worse.
    worse_by: float
    is_worse: bool

    def line(self) -> str:
        change = (self.now / self.before - 1) * 100 if self.before else 0.0
        mark = "  WORSE" if self.is_worse else ""
        return f"{self.name:28}{self.before:>14,.3f}{self.now:>14,.3f}{change:>+9.1f} %{mark}"


def require_a_pair(before: Mapping[str, Any], workload: Workload) -> None:
    """Told before the run that is to be compared."""
    settings = before["settings"]
    for name, now in workload.to_json().items():
        if name not in _OTHERS and settings.get(name) != now:
            raise WrongOption(
                f"these runs are no pair: {name} was {settings.get(name)} and is {now}"
            )


def compare(before: Mapping[str, Any], now: Mapping[str, Any], threshold: float) -> list[Compared]:
    """`threshold` is a part of what it was: 0.1 for ten percent."""
    return [
        _compared(label, before[name], now[name], more_is_better, threshold)
        for name, label, more_is_better in _COMPARED
        if before.get(name) or now.get(name)
    ]


def _compared(
    label: str, before: float, now: float, more_is_better: bool, threshold: float
) -> Compared:
    change = (now / before - 1) if before else 0.0
    worse_by = -change if more_is_better else change
    return Compared(label, before, now, worse_by, worse_by > threshold)


def load_result(file: str) -> dict[str, Any]:
    try:
        found = json.loads(Path(file).read_text("utf-8"))
    except OSError as failure:
        raise WrongOption(f"{file} cannot be read: {failure.strerror}") from None
    except ValueError:
        raise WrongOption(f"{file} is no JSON") from None
    if not isinstance(found, dict) or not _is_result(found):
        raise WrongOption(f"{file} is no result of `ottla spark perf --json`")
    return found


def _is_result(found: Mapping[str, Any]) -> bool:
    figures = [found.get(name) for name, _, _ in _COMPARED]
    return isinstance(found.get("settings"), dict) and all(
        isinstance(each, int | float) and not isinstance(each, bool) for each in figures
    )
