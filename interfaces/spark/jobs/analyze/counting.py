"""What a task counts of the range of a partition that it reads, while the records go by.

It hands on its figures, once, and for each key of some thousand records a row: what is asked of
keys is asked of these rows, which Spark adds up, on disk when there are many.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy
import pyarrow
import pyarrow.compute as pc

from interfaces.spark.jobs.analyze.figures import MOST_PROBLEMS, Figures

#: Of a batch: they are there when the data source is ottla-segments.
BATCH_COLUMNS = ("batchOffset", "batchRecords", "batchBytes", "batchOpenedBytes", "codec")

#: `left` is the size of the key's newest record; below zero, by one more, of a tombstone.
_SCHEMA = pyarrow.schema(
    [
        ("topic", pyarrow.string()),
        ("partition", pyarrow.int32()),
        ("key", pyarrow.binary()),
        ("records", pyarrow.int64()),
        ("bytes", pyarrow.int64()),
        ("newest", pyarrow.int64()),
        ("left", pyarrow.int64()),
        ("figures", pyarrow.string()),
    ]
)
COUNTED = (
    "topic string, partition int, key binary, records bigint, bytes bigint, newest bigint, "
    "left bigint, figures string"
)


def counted(batches: Iterator[pyarrow.RecordBatch], now_ms: int) -> Iterator[pyarrow.RecordBatch]:
    """For `mapInArrow`: Spark gives a task one range, in the order of its offsets."""
    counting: _Counting | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        if counting is None:
            counting = _Counting(batch, now_ms)
        yield counting.add(batch)
    if counting is not None:
        yield counting.told()


class _Counting:
    def __init__(self, batch: pyarrow.RecordBatch, now_ms: int) -> None:
        self._topic = batch.column("topic")[0].as_py()
        self._partition = batch.column("partition")[0].as_py()
        self._now_ms = now_ms
        self._knows_batches = "batchOffset" in batch.schema.names
        self._figures = Figures()
        self._figures.start = batch.column("offset")[0].as_py()

    def add(self, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
        """The keys of the batch."""
        if self._knows_batches:
            batch = self._records_of(batch)
        key, value, header = (
            _numbers(batch, f"{part}_size") for part in ("key", "value", "header")
        )
        is_tombstone = _is_null(batch, "value_size")
        sizes = key + value + header
        sums = self._figures.sums
        sums["records"] += batch.num_rows
        sums["key_bytes"] += int(key.sum())
        sums["value_bytes"] += int(value.sum())
        sums["header_bytes"] += int(header.sum())
        sums["null_keys"] += batch.column("key").null_count
        sums["tombstones"] += int(is_tombstone.sum())
        self._figures.sizes.add(sizes)
        self._figures.largest = max(self._figures.largest, int(sizes.max(initial=0)))
        stored = self._add_batches(batch)
        self._add_times(batch, sizes, stored)
        return self._keys(batch, sizes, is_tombstone)

    def told(self) -> pyarrow.RecordBatch:
        figures = json.dumps(self._figures.to_json())
        return self._rows(1, {"figures": pyarrow.array([figures])})

    def _records_of(self, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
        """Without the rows of what cannot be read, and of markers of transactions."""
        figures = self._figures
        problems = batch.column("problem")
        if problems.null_count < batch.num_rows:
            damaged = batch.filter(pc.is_valid(problems))
            figures.sums["damaged"] += damaged.num_rows
            for row in damaged.slice(0, MOST_PROBLEMS).to_pylist():
                figures.problems.append(
                    f"{self._topic}-{self._partition} at offset {row['offset']}: {row['problem']}"
                )
            del figures.problems[MOST_PROBLEMS:]
            batch = batch.filter(pc.is_null(problems))
        is_control = pc.fill_null(batch.column("isControl"), False)
        if pc.any(is_control).as_py():
            figures.sums["control_records"] += pc.sum(is_control).as_py()
            batch = batch.filter(pc.invert(is_control))
        return batch

    def _add_batches(self, batch: pyarrow.RecordBatch) -> numpy.ndarray:
        """What each record's share of its batch takes in the store."""
        if not self._knows_batches or not batch.num_rows:
            nothing: numpy.ndarray = numpy.zeros(batch.num_rows)
            return nothing
        columns = {
            name: batch.column(name).to_numpy(zero_copy_only=False) for name in BATCH_COLUMNS
        }
        self._figures.batches.add(columns)
        shares: numpy.ndarray = columns["batchBytes"] / numpy.maximum(columns["batchRecords"], 1)
        return shares

    def _add_times(
        self, batch: pyarrow.RecordBatch, sizes: numpy.ndarray, stored: numpy.ndarray
    ) -> None:
        figures = self._figures
        is_timed = ~_is_null(batch, "at_ms")
        times = _numbers(batch, "at_ms")[is_timed]
        if not len(times):
            return
        sizes, stored = sizes[is_timed], stored[is_timed]
        if figures.first_ms is None:
            figures.first_ms = int(times[0])
        before = [] if figures.last_ms is None else [figures.last_ms]
        figures.add_intervals(numpy.diff(times, prepend=numpy.array(before, dtype=times.dtype)))
        figures.last_ms = int(times[-1])
        oldest, newest = int(times.min()), int(times.max())
        figures.oldest_ms = min(oldest, oldest if figures.oldest_ms is None else figures.oldest_ms)
        figures.newest_ms = max(newest, newest if figures.newest_ms is None else figures.newest_ms)
        figures.moments.add(times, sizes)
        figures.last_day.add(times, sizes, stored, self._now_ms)

    def _keys(
        self, batch: pyarrow.RecordBatch, sizes: numpy.ndarray, is_tombstone: numpy.ndarray
    ) -> pyarrow.RecordBatch:
        table = pyarrow.table(
            {
                "key": batch.column("key").cast(pyarrow.binary()),
                "bytes": sizes,
                "newest": batch.column("offset"),
                "left": numpy.where(is_tombstone, -1 - sizes, sizes),
            }
        ).filter(pc.is_valid(batch.column("key")))
        # In one thread, since the last one is the newest one only in the order of offsets.
        found = table.group_by("key", use_threads=False).aggregate(
            [("bytes", "count"), ("bytes", "sum"), ("newest", "last"), ("left", "last")]
        )
        names = {
            "key": "key",
            "records": "bytes_count",
            "bytes": "bytes_sum",
            "newest": "newest_last",
            "left": "left_last",
        }
        columns = {ours: found[theirs].combine_chunks() for ours, theirs in names.items()}
        return self._rows(found.num_rows, columns)

    def _rows(self, count: int, columns: dict[str, Any]) -> pyarrow.RecordBatch:
        known = {
            "topic": pyarrow.repeat(pyarrow.scalar(self._topic), count),
            "partition": pyarrow.repeat(pyarrow.scalar(self._partition), count),
            **columns,
        }
        arrays = [
            known[field.name].cast(field.type)
            if field.name in known
            else pyarrow.nulls(count, field.type)
            for field in _SCHEMA
        ]
        return pyarrow.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _numbers(batch: pyarrow.RecordBatch, name: str) -> numpy.ndarray:
    filled = pc.fill_null(batch.column(name), 0).to_numpy(zero_copy_only=False)
    found: numpy.ndarray = filled.astype(numpy.int64)
    return found


def _is_null(batch: pyarrow.RecordBatch, name: str) -> numpy.ndarray:
    found: numpy.ndarray = pc.is_null(batch.column(name)).to_numpy(zero_copy_only=False)
    return found
