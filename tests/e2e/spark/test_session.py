"""A session is set up by itself: Java, the Python of the workers, our modules, memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from interfaces.spark.query.failures import WrongOption
from interfaces.spark.session import open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_workers_have_our_modules(spark: SparkSession) -> None:
    def home(_: object) -> str:
        from interfaces.spark.query import columns

        return columns.__name__

    assert spark.sparkContext.parallelize([0], 1).map(home).collect() == [
        "interfaces.spark.query.columns"
    ]


def test_a_master_that_is_none_is_told_in_a_line() -> None:
    with pytest.raises(WrongOption, match="'locall'"):
        open_session("tests", "locall")
