"""All tasks at once, on Spark: none begins before the last one is there."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from interfaces.spark.jobs.perf.consuming import Consumed, consume
from interfaces.spark.jobs.perf.plan import ConsumerTask, Plan, ProducerTask
from interfaces.spark.jobs.perf.producing import Produced, produce
from interfaces.spark.kafka.reachable import look
from interfaces.spark.memory import whole_mb
from interfaces.spark.query.failures import JobFailed, WrongOption

if TYPE_CHECKING:
    from pyspark import BarrierTaskContext
    from pyspark.sql import SparkSession

#: After the last one is there, so that all of them hear of it.
_LEAD_S = 0.3
#: Of a task's process, at the least.
_TASK_MB = 100
#: With so many cores; what else there is tells when it runs.
_LOCAL = re.compile(r"local(?:\[(\d+)(?:,\d+)?\])?")
#: For executors that start.
_EXECUTORS_S, _LOOK_S = 30.0, 0.2


def run_at_once(spark: SparkSession, plan: Plan) -> tuple[list[Produced], list[Consumed]]:
    context = spark.sparkContext
    tasks = list(plan.tasks)

    def work(mine: Iterator[ProducerTask | ConsumerTask]) -> Iterator[Produced | Consumed]:
        import confluent_kafka  # noqa: F401  (none takes its time after the start)
        import numpy  # noqa: F401
        from pyspark import BarrierTaskContext

        begun = _begun(plan, BarrierTaskContext.get())
        for task in mine:
            yield produce(begun, task) if isinstance(task, ProducerTask) else consume(begun, task)

    spread = context.parallelize(tasks, len(tasks)).barrier().mapPartitions(work)
    results = spread.collect()
    produced = [each for each in results if isinstance(each, Produced)]
    consumed = [each for each in results if isinstance(each, Consumed)]
    return produced, consumed


def _begun(plan: Plan, context: BarrierTaskContext) -> Plan:
    """With a start for all, and a mark of this attempt at it in the number of the run.

    A stage that is tried again sends to the same topics, where the records of the attempt before
    must be nobody's: what all tasks agree about can only be had from the barrier itself.
    """
    there = [json.loads(said) for said in context.allGather(json.dumps([time.time(), _mark()]))]
    start = max(now for now, _ in there) + _LEAD_S
    return replace(plan, run=there[0][1], timing=replace(plan.timing, start=start))


def _mark() -> int:
    return secrets.randbits(32)


def require_slots(spark: SparkSession, tasks: int) -> None:
    """Executors of a cluster come one by one, after the session is there."""
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


def refuse_the_broken(plan: Plan, produced: list[Produced], consumed: list[Consumed]) -> None:
    """Of a run that did not come to its end; first of all, whether there still is a broker."""
    for what, lost in (
        ("acknowledged", [each.lost for each in produced if each.lost]),
        ("read", [each.lost for each in consumed if each.lost]),
    ):
        if lost:
            raise JobFailed(f"nothing was {what} for {plan.patience_s:g} s: {lost[0]}")
    stuck = [each for each in produced if not each.is_complete]
    left = [place for each in consumed for place in each.unended]
    if not stuck and not left:
        return
    within = f"within {plan.patience_s:g} s after the end"
    what = f"not all was read {within}: {left[0] if left else ''}"
    if stuck:
        what = f"not all was acknowledged {within}: producer {stuck[0].number}"
    try:
        look(plan.servers)
    except JobFailed as gone:
        raise JobFailed(f"{what}: {gone}") from None
    complaints = [each.complaint for each in stuck or consumed if each.complaint]
    raise JobFailed(f"{what}: {complaints[0] if complaints else 'nothing came any more'}")


def master_for(master: str, tasks: int) -> str:
    """A local Spark gets a thread for each task: most of the time they wait."""
    if named := _LOCAL.fullmatch(master):
        _require(int(named[1] or 1), tasks)
    if master != "local[*]":
        return master
    if tasks * _TASK_MB > whole_mb():
        raise WrongOption(
            f"{tasks:,} producers and consumers at once are processes of {_TASK_MB} MB, and this "
            f"machine has {whole_mb():,} MB: fewer --topics, --producers or --consumers"
        )
    return f"local[{max(os.cpu_count() or 1, tasks)}]"
