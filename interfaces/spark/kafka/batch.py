"""Reading a batch: what there is between two places, resolved once, when the query is planned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from interfaces.spark.kafka.assignment import assignment_of
from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.places import OFFSETS, check_order, end_of_batch, start_of_batch
from interfaces.spark.kafka.pushdown import Pushed, taken
from interfaces.spark.kafka.ranges import Range, for_tasks
from interfaces.spark.kafka.reading import read_range

if TYPE_CHECKING:
    import pyarrow


class RangeOfTask(InputPartition):
    def __init__(self, wanted: Range) -> None:
        super().__init__(tuple(wanted))

    @property
    def wanted(self) -> Range:
        place, start, end = self.value
        return Range(place, start, end)


class BatchReader(DataSourceReader):
    def __init__(self, options: KafkaOptions) -> None:
        self.options = options
        self.group = options.group()
        self.assignment = assignment_of(options)
        self.pushed = Pushed()
        self.start, self.end = start_of_batch(options), end_of_batch(options)

    @property
    def pushFilters(self) -> _Push:
        return _Push(self)

    def partitions(self) -> list[InputPartition]:
        return [RangeOfTask(part) for part in self.ranges()]

    def ranges(self) -> list[Range]:
        broker, pushed = Broker(self.options), self.pushed
        everything = broker.places(self.assignment)
        self.start.check(everything)
        self.end.check(everything)
        places = [place for place in everything if pushed.wants(place)]
        starts, ends = broker.resolved(self.start, places), broker.resolved(self.end, places)
        if self.start.kind == OFFSETS:
            check_order(self.start.option, starts, ends)
        if pushed.since_ms is not None:
            # After the ends are known: what comes in between lies behind them.
            since = broker.first_since(dict.fromkeys(places, pushed.since_ms))
            starts = {p: max(starts[p], _or(since[p], ends[p])) for p in places}
        return for_tasks(
            [Range(p, pushed.start(starts[p]), pushed.end(ends[p])) for p in places],
            self.options.number("minPartitions"),
            self.options.number("maxRecordsPerPartition"),
        )

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        if isinstance(partition, RangeOfTask):  # where there are none, Spark makes one up
            yield from read_range(self.options, self.group, partition.wanted)


class _Push:
    """`pushFilters` for sessions that have filters pushed. In others Spark refuses a reader that
    has that method, which it tells by `__func__`, and a reader is not told which session it is in.

    It narrows ranges only where the option pushDownFilters says that it may: Spark 4.3 plans a
    DataFrame's ranges anew when filters are pushed, and takes the last ones for every other query
    of the same DataFrame, and for both sides of its union with itself.
    """

    def __init__(self, reader: BatchReader) -> None:
        self.reader = reader
        self.__func__ = DataSourceReader.pushFilters

    def __call__(self, filters: list[Any]) -> list[Any]:
        if not self.reader.options.flag("pushDownFilters", False):
            return filters
        self.reader.pushed, rest = taken(filters)
        return rest


def _or(found: int | None, otherwise: int) -> int:
    return otherwise if found is None else found
