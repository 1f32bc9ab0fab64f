"""The batch reader that Spark calls: first for filters, then for ranges, then in each task."""

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
    """Spark creates it to plan a query, and pickles it for the tasks."""

    def __init__(self, options: Options, exact_times: bool) -> None:
        self.pushed = Pushed(exact_times)
        self.pushes = options.flag("pushDownFilters", False)

    @property
    def pushFilters(self) -> _Push:
        return _Push(self)

    def partitions(self) -> list[InputPartition]:
        return tasks(self.ranges())

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        if isinstance(partition.value, Range):  # Spark adds an empty partition if there are none
            yield from self.rows(partition.value)

    @abstractmethod
    def ranges(self) -> Sequence[Range]:
        """The ranges that `pushed` leaves; called once, when Spark plans the query."""

    @abstractmethod
    def rows(self, part: Any) -> Iterator[pyarrow.RecordBatch]:
        """The rows of one range."""


class _Push:
    """`pushFilters` for sessions with spark.sql.python.filterPushdown.enabled.

    Other sessions refuse a reader that has this method, which Spark 4.3 detects by `__func__`; a
    reader does not know its session.

    Filters narrow ranges only with the option pushDownFilters: Spark 4.3 uses the ranges of the
    last filter for all queries of the same DataFrame, and for both sides of a union with itself.
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
    return [InputPartition(one) for one in ranges]
