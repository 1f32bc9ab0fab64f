"""Refuses a second attempt of a task where records must not be sent twice.

Spark's settings prevent attempts after a failure, and speculative ones. They do not prevent new
attempts of tasks that ran on a lost executor.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interfaces.spark.query.failures import JobFailed

if TYPE_CHECKING:
    from pyspark import SparkContext, TaskContext

#: A local property of the thread that starts a job; Spark passes it on to the tasks.
PROPERTY = "ottla.one.attempt"


@contextmanager
def one_attempt(context: SparkContext) -> Iterator[None]:
    """For jobs of this thread."""
    context.setLocalProperty(PROPERTY, "true")
    try:
        yield
    finally:
        context.setLocalProperty(PROPERTY, None)


def refuse_another(task: TaskContext) -> None:
    """Called in a task, before it sends a record."""
    if task.getLocalProperty(PROPERTY) and task.attemptNumber():
        raise JobFailed(
            f"Spark repeats task {task.partitionId()}, which failed or lost its executor, and "
            "would send its records twice; delete the topics and start again"
        )
