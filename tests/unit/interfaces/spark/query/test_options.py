"""Values of options: every wrong one is told in a line."""

from __future__ import annotations

import pytest

from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.options import READ_OPTIONS, Options


def options(**given: str) -> Options:
    return Options(given, (*READ_OPTIONS, "maxTriggerDelay"))


def test_what_is_empty_was_not_said() -> None:
    assert options(minPartitions=" ").for_tasks == (None, None)
    assert options(failOnDataLoss="").flag("failOnDataLoss", True)
    assert options(minPartitions=" 3 ", maxRecordsPerPartition="5").for_tasks == (3, 5)


@pytest.mark.parametrize("said_by_spark", ["provider", "owner", "location"])
def test_a_table_is_refused_when_it_is_made(said_by_spark: str) -> None:
    with pytest.raises(WrongOption, match="CREATE TEMPORARY VIEW"):
        options(subscribe="orders", **{said_by_spark: "ottla"})


@pytest.mark.parametrize(
    ("text", "ms"),
    [("250", 250), ("250ms", 250), ("30s", 30_000), ("15m", 900_000), ("1 h", 3_600_000)],
)
def test_times_have_units(text: str, ms: int) -> None:
    assert options(maxTriggerDelay=text).duration_ms("maxTriggerDelay", 0) == ms
