"""The data source `ottla`, as Spark finds it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.columns import columns
from interfaces.spark.query.failures import WrongOption

if TYPE_CHECKING:
    from pyspark.sql.datasource import (
        DataSourceReader,
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType


class KafkaSource(DataSource):
    """Spark pickles it; it connects to nothing."""

    @classmethod
    def name(cls) -> str:
        return "ottla"

    def schema(self) -> str:
        return columns(KafkaOptions(self.options).flag("includeHeaders", False))

    def reader(self, schema: StructType) -> DataSourceReader:
        from interfaces.spark.kafka.batch import BatchReader

        return BatchReader(self._read_options(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from interfaces.spark.kafka.stream import StreamReader

        return StreamReader(self._read_options(schema))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from interfaces.spark.kafka.sink import BatchWriter

        return BatchWriter(KafkaOptions(self.options), schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from interfaces.spark.kafka.sink import StreamWriter

        return StreamWriter(KafkaOptions(self.options), schema)

    def _read_options(self, schema: StructType) -> KafkaOptions:
        fixed = re.sub(r":? (?=\w)", ":", self.schema()).replace(",:", ",")
        if schema.simpleString() != f"struct<{fixed}>":
            raise WrongOption("the schema of a topic is fixed; remove .schema(...)")
        return KafkaOptions(self.options)
