"""How tasks agree when a run begins, and which attempt at it this is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interfaces.spark.failures import WrongOption
from interfaces.spark.jobs.perf.plan import Plan
from interfaces.spark.jobs.perf.running import _begun, master_for


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


def test_a_local_spark_has_a_thread_for_each_task_as_far_as_memory_goes() -> None:
    assert master_for("local[*]", 3) != "local[*]"
    assert master_for("spark://there:7077", 1_000_000) == "spark://there:7077"
    with pytest.raises(WrongOption, match="fewer --topics, --producers or --consumers"):
        master_for("local[*]", 1_000_000)
