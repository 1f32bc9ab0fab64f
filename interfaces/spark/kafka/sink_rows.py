"""Arrow columns as rows of arguments for `Producer.produce`: topic, value, key, partition.

A slice of at most a thousand rows becomes Python objects at a time, so that memory does not depend
on the size of Spark's batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from interfaces.spark.kafka.sink_columns import SinkColumns
from interfaces.spark.query.failures import JobFailed

if TYPE_CHECKING:
    import pyarrow

SLICE_ROWS = 1000
SLICE_BYTES = 8 * 2**20
#: librdkafka: the partitioner chooses; the current time.
ANY_PARTITION, NOW = -1, 0
#: Kafka's timestamp of a record without one; librdkafka passes it on.
NO_TIME_MS = -1

Header: TypeAlias = tuple[str, bytes | None]
Headers: TypeAlias = list[Header]
#: The provenance header of a row, by its number in the task.
Stamp: TypeAlias = Callable[[int], Header]


class Rows:
    """`slices` yields topics, rows, and the bytes of their keys and headers."""

    def __init__(self, columns: SinkColumns, delivered: object, stamp: Stamp | None = None) -> None:
        self._columns, self._delivered, self._stamp = columns, delivered, stamp
        self.number = 0

    def slices(
        self, batch: pyarrow.RecordBatch
    ) -> Iterator[tuple[set[str], Iterable[tuple[Any, ...]], int]]:
        fitting = SLICE_BYTES * batch.num_rows // max(1, batch.nbytes)
        rows = min(SLICE_ROWS, fitting + 1)
        for start in range(0, batch.num_rows, rows):
            part = batch.slice(start, rows)
            topics, names = self._topics(part)
            yield names, self._rows(part, topics), self._bytes_beside_values(part)
            self.number += part.num_rows

    def _topics(self, part: pyarrow.RecordBatch) -> tuple[Iterable[str], set[str]]:
        if self._columns.topic is not None:
            return repeat(self._columns.topic), {self._columns.topic}
        topics = part.column("topic").to_pylist()
        names = set(topics)
        if None in names:
            at = self.number + topics.index(None)
            raise JobFailed(f"row {at} has no topic (option topic sets one for all rows)")
        return topics, names

    def _rows(self, part: pyarrow.RecordBatch, topics: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        columns = self._columns
        common = (
            topics,
            texts(part.column("value")),
            texts(part.column("key")) if columns.key else repeat(None),
            self._partitions(part) if columns.partition else repeat(ANY_PARTITION),
            repeat(self._delivered),
        )
        headers = self._headers(part)
        if headers is None and not columns.timestamp:
            return zip(*common, strict=False)
        times = self._times(part) if columns.timestamp else repeat(NOW)
        return zip(*common, repeat(None), times, headers or repeat(None), strict=False)

    def _bytes_beside_values(self, part: pyarrow.RecordBatch) -> int:
        key = part.column("key").nbytes if self._columns.key else 0
        return int(key + part.column("headers").nbytes if self._columns.headers else key)

    def _partitions(self, part: pyarrow.RecordBatch) -> list[int]:
        given = part.column("partition")
        found: list[int] = given.fill_null(ANY_PARTITION).to_pylist()
        if min(found) < 0:
            for at, partition in enumerate(given.to_pylist(), self.number):
                if partition is not None and partition < 0:
                    raise JobFailed(f"row {at} has the partition {partition}")
        return found

    def _times(self, part: pyarrow.RecordBatch) -> list[int]:
        import pyarrow

        times = part.column("timestamp").cast(pyarrow.timestamp("ms", tz="UTC"), safe=False)
        found: list[int] = times.cast(pyarrow.int64()).fill_null(NOW).to_pylist()
        if min(found) < NO_TIME_MS:
            at = next(at for at, time in enumerate(found, self.number) if time < NO_TIME_MS)
            raise JobFailed(f"row {at} has a timestamp before 1970")
        return found

    def _headers(self, part: pyarrow.RecordBatch) -> list[Headers | None] | None:
        given = headers_of(part.column("headers"), self.number) if self._columns.headers else None
        if self._stamp is None:
            return given
        numbers = range(self.number, self.number + part.num_rows)
        stamps = map(self._stamp, numbers)
        if given is None:
            return [[stamp] for stamp in stamps]
        return [[*(own or ()), stamp] for own, stamp in zip(given, stamps, strict=True)]


def texts(column: pyarrow.Array) -> list[bytes | None]:
    """Text in Arrow is UTF-8 already: a cast saves decoding and encoding it."""
    import pyarrow

    kind = column.type
    if pyarrow.types.is_string(kind):
        column = column.cast(pyarrow.binary())
    elif pyarrow.types.is_large_string(kind):
        column = column.cast(pyarrow.large_binary())
    found: list[bytes | None] = column.to_pylist()
    return found


def headers_of(column: pyarrow.ListArray, first_row: int) -> list[Headers | None]:
    ends = column.offsets.to_pylist()
    start = ends[0]
    pairs = column.values.slice(start, ends[-1] - start)
    keys, values = (field.to_pylist() for field in pairs.flatten())
    if None in keys:
        at = keys.index(None) + start
        row = next(row for row, end in enumerate(ends[1:], first_row) if at < end)
        raise JobFailed(f"row {row} has a header without a key")
    headers = list(zip(keys, values, strict=True))
    given = column.is_valid().to_pylist()
    return [
        headers[begin - start : end - start] if there else None
        for there, begin, end in zip(given, ends, ends[1:], strict=False)
    ]
