"""How tasks agree when a run begins, and which attempt at it this is."""

from __future__ import annotations

import json
from typing import Any

from interfaces.spark.jobs.perf.plan import Plan
from interfaces.spark.jobs.perf.running import _begun


class Barrier:
    """Where `others` wait already."""

    def __init__(self, others: list[list[float]]) -> None:
        self._others = others

    def allGather(self, said: str) -> list[str]:
        return [*map(json.dumps, self._others), said]


def test_all_tasks_of_an_attempt_agree_and_another_attempt_is_another_run() -> None:
    late = 2.0**40
    first: Any = Barrier([[late, 7], [1.0, 8]])
    plans = [_begun(Plan(0, {}, {}, ()), first) for _ in range(2)]
    assert {(plan.run, plan.timing.start) for plan in plans} == {(7, late + 0.3)}
    alone: Any = Barrier([])
    assert len({_begun(Plan(0, {}, {}, ()), alone).run for _ in range(3)}) > 1
