"""Where records may not be sent twice, a task is not begun again.

Settings of Spark keep it from doing so after a failure, or beside a task that is slow. A machine
that is lost is no failure to it: what ran there is begun again whatever they say.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interfaces.spark.query.failures import JobFailed

if TYPE_CHECKING:
    from pyspark import SparkContext, TaskContext

#: Of the thread that starts a job; Spark hands it on to the job's tasks.
PROPERTY = "ottla.one.attempt"


@contextmanager
def one_attempt(context: SparkContext) -> Iterator[None]:
    """For what this thread writes."""
    context.setLocalProperty(PROPERTY, "true")
    try:
        yield
    finally:
        context.setLocalProperty(PROPERTY, None)


def refuse_another(task: TaskContext) -> None:
    """In a task, before it sends anything."""
    if task.getLocalProperty(PROPERTY) and task.attemptNumber():
        raise JobFailed(
            f"task {task.partitionId()} failed, or its machine was lost, and was begun again: what "
            "it had sent would be sent twice; delete the topics and begin again"
        )
