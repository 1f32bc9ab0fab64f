"""All tasks at once, on Spark: none begins before the last one is there."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from interfaces.spark.failures import JobFailed, WrongOption
from interfaces.spark.jobs.perf.consuming import Consumed, consume
from interfaces.spark.jobs.perf.plan import ConsumerTask, Plan, ProducerTask
from interfaces.spark.jobs.perf.producing import Produced, produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: After the last one is there, so that all of them hear of it.
_LEAD_S = 0.3


def run_at_once(spark: SparkSession, plan: Plan) -> tuple[list[Produced], list[Consumed]]:
    context = spark.sparkContext
    tasks = list(plan.tasks)

    def work(mine: Iterator[ProducerTask | ConsumerTask]) -> Iterator[Produced | Consumed]:
        from pyspark import BarrierTaskContext

        there = BarrierTaskContext.get().allGather(str(time.time()))
        begun = replace(plan, timing=replace(plan.timing, start=max(map(float, there)) + _LEAD_S))
        for task in mine:
            yield produce(begun, task) if isinstance(task, ProducerTask) else consume(begun, task)

    spread = context.parallelize(tasks, len(tasks)).barrier().mapPartitions(work)
    results = spread.collect()
    produced = [each for each in results if isinstance(each, Produced)]
    consumed = [each for each in results if isinstance(each, Consumed)]
    _refuse_the_broken(produced, consumed)
    return produced, consumed


def require_slots(spark: SparkSession, tasks: int) -> None:
    slots = spark.sparkContext.defaultParallelism
    if slots < tasks:
        raise WrongOption(
            f"{tasks} tasks at once need as many cores of Spark, which has {slots}; "
            f"--master 'local[{tasks}]' has enough"
        )


def _refuse_the_broken(produced: list[Produced], consumed: list[Consumed]) -> None:
    for each in produced:
        if not each.is_complete:
            raise JobFailed(
                f"producer {each.number} could not finish: "
                f"{each.complaint or 'the broker did not answer'}"
            )
    left = [place for each in consumed for place in each.unended]
    if left:
        why = next((each.complaint for each in consumed if each.complaint), "nothing came any more")
        raise JobFailed(f"{left[0]} and {len(left) - 1} others were not read to their end: {why}")


def master_for(master: str, tasks: int) -> str:
    """A local Spark gets a thread for each task: most of the time they wait."""
    return f"local[{max(os.cpu_count() or 1, tasks)}]" if master == "local[*]" else master
