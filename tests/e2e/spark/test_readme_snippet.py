"""The example for Spark, with another address of the broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from tests.e2e.test_readme import DEFAULT_ADDRESS, EXAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_reads_a_topic(
    spark: SparkSession, servers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("letters", value="hello from Python")
    assert producer.flush(10) == 0
    snippet = (EXAMPLES / "python/read_with_spark.py").read_text("utf-8")
    exec(snippet.replace(DEFAULT_ADDRESS, servers), {})
    assert "|0        |0     |hello from Python|" in capsys.readouterr().out
