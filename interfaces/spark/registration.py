"""The names of the data sources, for `spark.read.format(...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(session: SparkSession) -> None:
    """Registers the data sources with a session; repeatable."""
    from interfaces.spark.kafka.sources import KafkaSource
    from interfaces.spark.segments.sources import SegmentsSource

    for source in (KafkaSource, SegmentsSource):
        session.dataSource.register(source)
