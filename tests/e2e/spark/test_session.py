"""Opening a session."""

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


def test_a_wrong_master_is_refused() -> None:
    with pytest.raises(WrongOption, match="'locall'"):
        open_session("tests", "locall")
