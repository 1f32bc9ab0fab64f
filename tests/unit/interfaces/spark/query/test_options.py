"""Values of options; their errors are in test_option_errors.py."""

from __future__ import annotations

import pytest

from interfaces.spark.query.options import READ_OPTIONS, Options


def options(**given: str) -> Options:
    return Options(given, (*READ_OPTIONS, "maxTriggerDelay"))


def test_empty_options_are_not_set() -> None:
    assert options(minPartitions=" ").for_tasks == (None, None)
    assert options(failOnDataLoss="").flag("failOnDataLoss", True)
    assert options(minPartitions=" 3 ", maxRecordsPerPartition="5").for_tasks == (3, 5)


@pytest.mark.parametrize(
    ("text", "ms"),
    [("250", 250), ("250ms", 250), ("30s", 30_000), ("15m", 900_000), ("1 h", 3_600_000)],
)
def test_durations_have_units(text: str, ms: int) -> None:
    assert options(maxTriggerDelay=text).duration_ms("maxTriggerDelay", 0) == ms
