"""The names of the data sources, for `spark.read.format(...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(session: SparkSession) -> None:
    """They become known to this session; doing it again changes nothing."""
    from interfaces.spark.kafka.sources import KafkaSource
    from interfaces.spark.segments.sources import SegmentsSource

    session.dataSource.register(KafkaSource)
    session.dataSource.register(SegmentsSource)
