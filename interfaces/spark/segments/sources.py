"""The data source `ottla-segments`, as Spark finds it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from interfaces.spark.failures import WrongOption
from interfaces.spark.segments.conditions import Conditions
from interfaces.spark.segments.options import SegmentsOptions
from interfaces.spark.segments.planning import plan
from interfaces.spark.segments.ranges import OffsetRange
from interfaces.spark.segments.schema import all_columns, check_schema

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.datasource import DataSourceStreamReader, Filter
    from pyspark.sql.types import StructType

#: Where Spark hands filters on. Anywhere else it refuses a reader that could take some.
_PUSHDOWN = "pyspark.sql.worker.data_source_pushdown_filters"


class SegmentsSource(DataSource):
    """Spark pickles it: it has its options, and opens nothing."""

    @classmethod
    def name(cls) -> str:
        return "ottla-segments"

    def schema(self) -> str:
        options = SegmentsOptions(self.options)
        return all_columns(options.include_headers, options.include_batches)

    def reader(self, schema: StructType) -> DataSourceReader:
        check_schema(schema)
        kind = PushedSegmentsReader if _PUSHDOWN in sys.modules else SegmentsReader
        return kind(SegmentsOptions(self.options), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        raise WrongOption(
            "ottla-segments is read as a batch, by spark.read; the format for a stream is ottla"
        )


class RangeOfTask(InputPartition):
    def __init__(self, wanted: OffsetRange) -> None:
        super().__init__(tuple(wanted))

    @property
    def wanted(self) -> OffsetRange:
        return OffsetRange(*self.value)


class SegmentsReader(DataSourceReader):
    def __init__(self, options: SegmentsOptions, schema: StructType) -> None:
        from pyspark.sql.pandas.types import to_arrow_schema

        self._options = options
        self._schema = to_arrow_schema(schema, timezone="UTC")
        self._conditions = Conditions()

    def partitions(self) -> list[InputPartition]:
        return [RangeOfTask(each) for each in plan(self._options, self._conditions)]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        from interfaces.spark.segments.reading import Task, read_range

        if not isinstance(partition, RangeOfTask):  # where there are none, Spark makes one up
            return
        task = Task(
            self._options.url,
            self._schema,
            self._conditions.since_ms,
            self._conditions.until_ms,
            self._options.fail_on_data_loss,
            self._options.include_batches,
        )
        yield from read_range(task, partition.wanted)


class PushedSegmentsReader(SegmentsReader):
    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        return self._conditions.take(filters)
