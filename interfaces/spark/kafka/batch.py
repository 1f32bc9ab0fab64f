"""Reading a batch: what there is between two places, resolved once, when the query is planned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from interfaces.spark.kafka.assignment import assignment_of
from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.places import end_of_batch, start_of_batch
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
        self.start, self.end = start_of_batch(options), end_of_batch(options)

    def partitions(self) -> list[InputPartition]:
        return [RangeOfTask(part) for part in self.ranges()]

    def ranges(self) -> list[Range]:
        broker = Broker(self.options)
        places = broker.places(self.assignment)
        starts, ends = broker.resolved(self.start, places), broker.resolved(self.end, places)
        return for_tasks(
            [Range(place, starts[place], ends[place]) for place in places],
            self.options.number("minPartitions"),
            self.options.number("maxRecordsPerPartition"),
        )

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        if isinstance(partition, RangeOfTask):  # where there are none, Spark makes one up
            yield from read_range(self.options, self.group, partition.wanted)
