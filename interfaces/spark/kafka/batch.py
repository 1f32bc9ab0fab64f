"""Reads a batch; its offsets are resolved once, when Spark plans the query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.reading import read_range
from interfaces.spark.query.assignment import assignment_of
from interfaces.spark.query.bounds import end_of_batch, start_of_batch
from interfaces.spark.query.ranges import Range, for_tasks
from interfaces.spark.query.reader import RangesReader

if TYPE_CHECKING:
    import pyarrow


class BatchReader(RangesReader):
    def __init__(self, options: KafkaOptions) -> None:
        super().__init__(options, exact_times=False)
        self.options = options
        self.group = options.group()
        self.assignment = assignment_of(options)
        self.start, self.end = start_of_batch(options), end_of_batch(options)

    def ranges(self) -> list[Range]:
        broker, pushed = Broker(self.options), self.pushed
        everything = broker.places(self.assignment)
        self.start.check(everything)
        self.end.check(everything)
        places = [place for place in everything if pushed.wants(place)]
        starts, ends = broker.resolved(self.start, places), broker.resolved(self.end, places)
        self.start.check_order(self.end, starts, ends)
        since_ms = pushed.since_ms
        if since_ms is not None and since_ms > 0:  # negative timestamps are special in ListOffsets
            # After the ends are resolved, as records may arrive in between.
            since = broker.first_since(dict.fromkeys(places, since_ms))
            starts = {
                p: max(starts[p], ends[p] if (first := since[p]) is None else first) for p in places
            }
        ranges = [Range(p, pushed.start(starts[p]), pushed.end(ends[p])) for p in places]
        return for_tasks(ranges, *self.options.for_tasks)

    def rows(self, part: Range) -> Iterator[pyarrow.RecordBatch]:
        return read_range(self.options, self.group, part)
