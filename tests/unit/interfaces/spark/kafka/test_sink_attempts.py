"""A second attempt of a task is refused where records must not be sent twice."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from interfaces.spark.kafka.sink_attempts import one_attempt, refuse_another
from interfaces.spark.query.failures import JobFailed


class Context:
    """A SparkContext with the local properties of one thread."""

    def __init__(self) -> None:
        self.properties: dict[str, str] = {}

    def setLocalProperty(self, key: str, value: str | None) -> None:
        if value is None:
            del self.properties[key]
        else:
            self.properties[key] = value

    def task(self, attempt: int) -> Any:
        return SimpleNamespace(
            getLocalProperty=dict(self.properties).get,
            attemptNumber=lambda: attempt,
            partitionId=lambda: 7,
        )


def test_a_second_attempt_is_refused_only_within_one_attempt() -> None:
    context = Context()
    with one_attempt(cast(Any, context)):
        first, second = context.task(0), context.task(1)
    refuse_another(first)
    with pytest.raises(JobFailed, match="task 7"):
        refuse_another(second)
    refuse_another(context.task(1))
