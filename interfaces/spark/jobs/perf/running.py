"""All tasks at once, in a barrier stage: none begins before the last one is running."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from interfaces.spark.jobs.perf.clients import why_silent
from interfaces.spark.jobs.perf.consuming import Consumed, consume
from interfaces.spark.jobs.perf.plan import ConsumerTask, Plan, ProducerTask
from interfaces.spark.jobs.perf.producing import Produced, produce
from interfaces.spark.memory import whole_mb
from interfaces.spark.query.failures import JobFailed, WrongOption, cause_of

if TYPE_CHECKING:
    from pyspark import BarrierTaskContext
    from pyspark.sql import SparkSession

#: From the moment when all are running, so that all know it.
_LEAD_S = 0.3
#: The least memory of a task's process.
_TASK_MB = 100
#: A master whose cores its name tells; others tell when they run.
_LOCAL = re.compile(r"local(?:\[(\d+)(?:,\d+)?\])?")
#: For executors to start.
_EXECUTORS_S, _LOOK_S = 30.0, 0.2


def run_at_once(spark: SparkSession, plan: Plan) -> tuple[list[Produced], list[Consumed]]:
    context = spark.sparkContext
    tasks = list(plan.tasks)

    def work(mine: Iterator[ProducerTask | ConsumerTask]) -> Iterator[Produced | Consumed]:
        import confluent_kafka  # noqa: F401  (before the start of the measurement)
        import numpy  # noqa: F401
        from pyspark import BarrierTaskContext

        planned = _planned(plan, BarrierTaskContext.get())
        for task in mine:
            yield (
                produce(planned, task) if isinstance(task, ProducerTask) else consume(planned, task)
            )

    spread = context.parallelize(tasks, len(tasks)).barrier().mapPartitions(work)
    try:
        results = spread.collect()
    except Exception as failure:  # of a task, which ends the others
        raise cause_of(failure) from failure
    produced = [each for each in results if isinstance(each, Produced)]
    consumed = [each for each in results if isinstance(each, Consumed)]
    return produced, consumed


def _planned(plan: Plan, context: BarrierTaskContext) -> Plan:
    """With one start for all tasks, and a run number of this attempt.

    A stage that Spark tries again sends to the same topics, where records of the attempt before
    must count as foreign.
    """
    mine = json.dumps([time.time(), secrets.randbits(32)])
    tasks = [json.loads(each) for each in context.allGather(mine)]
    start = max(now for now, _ in tasks) + _LEAD_S
    return replace(plan, run=tasks[0][1], timing=replace(plan.timing, start=start))


def require_slots(spark: SparkSession, tasks: int) -> None:
    """Executors of a cluster register one by one, after the session has started."""
    context = spark.sparkContext
    patience_s = 0.0 if context.master.startswith("local[") else _EXECUTORS_S
    deadline = time.monotonic() + patience_s
    while (slots := context.defaultParallelism) < tasks and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
    _require(slots, tasks)


def _require(slots: int, tasks: int) -> None:
    if slots < tasks:
        raise WrongOption(
            f"{tasks} tasks at once need as many cores of Spark, which has {slots}; "
            f"--master 'local[{tasks}]' has enough"
        )


def require_all_read(plan: Plan, consumed: list[Consumed]) -> None:
    unended = [(place, each.reason) for each in consumed for place in each.unended]
    if unended:
        place, reason = unended[0]
        why = why_silent(plan.servers, reason)
        within = f"within {plan.patience_s:g} s after the end"
        raise JobFailed(f"not all was read {within}: {place}: {why}")


def master_for(master: str, tasks: int) -> str:
    """A local Spark gets a thread for each task: tasks wait most of the time."""
    if named := _LOCAL.fullmatch(master):
        _require(int(named[1] or 1), tasks)
    if master != "local[*]":
        return master
    if tasks * _TASK_MB > (memory_mb := whole_mb()):
        raise WrongOption(
            f"{tasks:,} producers and consumers at once are processes of {_TASK_MB} MB each, but "
            f"this machine has {memory_mb:,} MB: reduce --topics, --producers or --consumers"
        )
    return f"local[{max(os.cpu_count() or 1, tasks)}]"
