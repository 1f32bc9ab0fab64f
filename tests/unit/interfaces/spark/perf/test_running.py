"""How the tasks of a run agree on its start, and how it ends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interfaces.spark.jobs.perf import running
from interfaces.spark.jobs.perf.consuming import Consumed
from interfaces.spark.jobs.perf.plan import Plan
from interfaces.spark.jobs.perf.running import (
    _planned,
    master_for,
    require_all_read,
    require_slots,
)
from interfaces.spark.jobs.perf.tally import Tally
from interfaces.spark.query.failures import JobFailed, WrongOption


class Barrier:
    """A barrier that `others` have reached."""

    def __init__(self, others: list[list[float]]) -> None:
        self._others = others

    def allGather(self, message: str) -> list[str]:
        return [*map(json.dumps, self._others), message]


def test_all_tasks_of_an_attempt_have_one_plan_and_each_attempt_another() -> None:
    late = 2.0**40
    first: Any = Barrier([[late, 7], [1.0, 8]])
    plans = [_planned(Plan(0, {}, {}, ()), first) for _ in range(2)]
    assert {(plan.run, plan.timing.start) for plan in plans} == {(7, late + 0.3)}
    alone: Any = Barrier([])
    assert len({_planned(Plan(0, {}, {}, ()), alone).run for _ in range(3)}) > 1


def test_a_local_spark_has_a_thread_for_each_task() -> None:
    assert master_for("local[*]", 3) != "local[*]"
    assert master_for("local[4,2]", 4) == "local[4,2]"
    for few in ("local", "local[3]"):
        with pytest.raises(WrongOption, match=r"^4 tasks at once need as many cores of Spark, whi"):
            master_for(few, 4)
    assert master_for("spark://there:7077", 1_000_000) == "spark://there:7077"


def test_more_tasks_than_a_local_spark_has_memory_for_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "whole_mb", lambda: 4_000)
    assert master_for("local[*]", 40).startswith("local[")
    with pytest.raises(WrongOption, match=r"^41 .* 4,000 MB: .*--consumers"):
        master_for("local[*]", 41)
    assert master_for("local[41]", 41) == "local[41]"


class Cluster:
    """A session that has one more core at each call, up to `most`."""

    def __init__(self, master: str, most: int) -> None:
        self.master, self._most, self._cores = master, most, 0
        self.sparkContext = self

    @property
    def defaultParallelism(self) -> int:
        self._cores = min(self._most, self._cores + 1)
        return self._cores


def test_a_partition_that_was_not_read_to_its_end_fails_the_run() -> None:
    plan = Plan(0, {}, {}, (), patience_s=5, servers="127.0.0.1:1")
    unended = Consumed("t/0", Tally(1), {}, unended=["t-0"])
    with pytest.raises(JobFailed, match=r"^not all was read within 5 s .*: t-0: no broker at 127"):
        require_all_read(plan, [unended])
    require_all_read(plan, [Consumed("t/0", Tally(1), {})])


def test_a_run_waits_for_executors_that_are_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_LOOK_S", 0.0)
    cluster: Any = Cluster("spark://host:7077", 3)
    require_slots(cluster, 3)
    monkeypatch.setattr(running, "_EXECUTORS_S", 0.01)
    small: Any = Cluster("local-cluster[1,2,1024]", 2)
    with pytest.raises(WrongOption, match=r"^3 tasks at once need .* which has 2; "):
        require_slots(small, 3)


def test_a_local_spark_with_too_few_cores_is_refused_at_once() -> None:
    local: Any = Cluster("local[3]", 3)
    with pytest.raises(WrongOption, match=r"^3 tasks at once need .* which has 1; "):
        require_slots(local, 3)
