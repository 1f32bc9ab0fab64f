"""A batch as Spark asks for it: its ranges, each of them in a task; and before that, filters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from interfaces.spark.query.filters import Pushed, taken
from interfaces.spark.query.options import Options
from interfaces.spark.query.ranges import Range

if TYPE_CHECKING:
    import pyarrow


class RangesReader(DataSourceReader):
    """Spark makes it where it plans, and sends it to the tasks."""

    def __init__(self, options: Options, exact_times: bool) -> None:
        self.pushed = Pushed(exact_times)
        self.pushes = options.flag("pushDownFilters", False)

    @property
    def pushFilters(self) -> _Push:
        return _Push(self)

    def partitions(self) -> list[InputPartition]:
        return tasks(self.ranges())

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        if isinstance(partition.value, Range):  # where there are none, Spark makes one up
            yield from self.rows(partition.value)

    @abstractmethod
    def ranges(self) -> Sequence[Range]:
        """Of what `pushed` wants; found out once, when the query is planned."""

    @abstractmethod
    def rows(self, wanted: Any) -> Iterator[pyarrow.RecordBatch]:
        """Of one of the ranges."""


class _Push:
    """`pushFilters` for sessions that have filters pushed. In others Spark refuses a reader that
    has that method, which it tells by `__func__`, and a reader is not told which session it is in.

    It narrows ranges only where the option pushDownFilters says that it may: Spark 4.3 plans a
    DataFrame's ranges anew when filters are pushed, and takes the last ones for every other query
    of the same DataFrame, and for both sides of its union with itself.
    """

    def __init__(self, reader: RangesReader) -> None:
        self.reader = reader
        self.__func__ = DataSourceReader.pushFilters

    def __call__(self, filters: list[Any]) -> list[Any]:
        if not self.reader.pushes:
            return filters
        self.reader.pushed, rest = taken(filters, self.reader.pushed.exact_times)
        return rest


def tasks(ranges: Sequence[Range]) -> list[InputPartition]:
    return [InputPartition(wanted) for wanted in ranges]
