"""The data source `ottla-segments`, as Spark finds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.reader import RangesReader
from interfaces.spark.segments.options import SegmentsOptions
from interfaces.spark.segments.planning import plan
from interfaces.spark.segments.ranges import StoredRange
from interfaces.spark.segments.schema import all_columns, check_schema

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.datasource import (
        DataSourceReader,
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType

_ONLY_READ = "ottla-segments does not write; write to a broker with the format ottla"


class SegmentsSource(DataSource):
    """Spark pickles it; it opens nothing."""

    @classmethod
    def name(cls) -> str:
        return "ottla-segments"

    def schema(self) -> str:
        options = SegmentsOptions(self.options)
        return all_columns(options.include_headers, options.include_batches)

    def reader(self, schema: StructType) -> DataSourceReader:
        check_schema(schema)
        return SegmentsReader(SegmentsOptions(self.options), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        raise WrongOption("ottla-segments has no streams; read a stream with the format ottla")

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        raise WrongOption(_ONLY_READ)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        raise WrongOption(_ONLY_READ)


class SegmentsReader(RangesReader):
    def __init__(self, options: SegmentsOptions, schema: StructType) -> None:
        from pyspark.sql.pandas.types import to_arrow_schema

        super().__init__(options, exact_times=True)
        self.options = options
        self.schema = to_arrow_schema(schema, timezone="UTC")

    def ranges(self) -> list[StoredRange]:
        return plan(self.options, self.pushed)

    def rows(self, part: StoredRange) -> Iterator[pyarrow.RecordBatch]:
        from interfaces.spark.segments.reading import Task, read_range

        task = Task(
            self.options.url,
            self.schema,
            self.pushed.since_ms,
            self.pushed.until_ms,
            self.options.fail_on_data_loss,
            self.options.include_batches,
        )
        return read_range(task, part)
