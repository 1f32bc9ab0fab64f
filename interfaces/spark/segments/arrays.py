"""Decoded records as Arrow arrays: C++ copies each field once, out of the bytes of its batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy
import pyarrow

from domain.messages.batch import CONTROL, HEADER_BYTES, LOG_APPEND_TIME, RecordBatch
from interfaces.spark.query.columns import CREATE_TIME, timestamps
from interfaces.spark.query.columns import LOG_APPEND_TIME as BY_LOG
from interfaces.spark.query.ranges import Place
from interfaces.spark.segments.records import Fields, Numbers, Opened, Records
from interfaces.spark.segments.whole import Damaged

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

#: Columns with the same value for all records of a batch.
_OF_BATCH: dict[str, Callable[[Opened], object]] = {
    "timestampType": lambda one: timestamp_type(one.batch),
    "batchOffset": lambda one: one.batch.base_offset,
    "batchRecords": lambda one: one.batch.count,
    "batchBytes": lambda one: one.batch.size_bytes,
    "batchOpenedBytes": lambda one: HEADER_BYTES + len(one.payload),
    "codec": lambda one: codec_name(one.batch),
    "producerId": lambda one: one.batch.producer_id,
    "isControl": lambda one: bool(one.batch.attributes & CONTROL),
}


def timestamp_type(batch: RecordBatch) -> int:
    return BY_LOG if batch.attributes & LOG_APPEND_TIME else CREATE_TIME


def codec_name(batch: RecordBatch) -> str:
    return CODECS[batch.codec] if batch.codec < len(CODECS) else f"codec {batch.codec}"


def rows_of(
    records: Records,
    chosen: Numbers,
    opened: Sequence[Opened],
    place: Place,
    schema: pyarrow.Schema,
) -> pyarrow.RecordBatch:
    """The rows `chosen` by index, with the columns of `schema`."""
    columns = [_column(field, records, chosen, opened, place) for field in schema]
    return pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def _column(
    field: pyarrow.Field,
    records: Records,
    chosen: Numbers,
    opened: Sequence[Opened],
    place: Place,
) -> pyarrow.Array:
    name, kind, count = field.name, field.type, len(chosen)
    if name == "key":
        return _binary(records.buffer, records.key_value, 0, chosen)
    if name == "value":
        return _binary(records.buffer, records.key_value, 1, chosen)
    if name == "topic":
        return pyarrow.repeat(pyarrow.scalar(place.topic, kind), count)
    if name == "partition":
        return pyarrow.repeat(pyarrow.scalar(place.partition, kind), count)
    if name == "offset":
        return pyarrow.array(records.offset[chosen], kind)
    if name == "timestamp":
        return timestamps(records.timestamp[chosen])
    if name == "headers":
        return _headers(records, chosen, kind)
    if name == "problem":
        return pyarrow.nulls(count, kind)
    facts = pyarrow.array([_OF_BATCH[name](each) for each in opened], kind)
    return facts.take(pyarrow.array(records.batch[chosen]))


def _binary(buffer: bytes, fields: Fields, which: int, chosen: Numbers) -> pyarrow.Array:
    """Arrow sees the buffer as one array, of the fields and of the bytes between them."""
    null = (fields.first_null, fields.second_null)[which][chosen]
    if null.all():
        return pyarrow.nulls(len(chosen), pyarrow.binary())
    pieces = len(fields.bounds) - 1
    every = pyarrow.Array.from_buffers(
        pyarrow.binary(),
        pieces,
        [None, pyarrow.py_buffer(fields.bounds), pyarrow.py_buffer(buffer)],
    )
    places = chosen * 4 + 2 * which
    return every.take(pyarrow.array(places, mask=null if null.any() else None))


def _headers(records: Records, chosen: Numbers, kind: pyarrow.DataType) -> pyarrow.Array:
    """Null for a record without headers, as in the connector."""
    fields, counts = records.headers, records.header_counts
    assert fields is not None
    if not len(fields.second_null):
        return pyarrow.nulls(len(chosen), kind)
    counted = counts[chosen]
    ends = numpy.cumsum(counted)
    first_of = (numpy.cumsum(counts) - counts)[chosen]
    slots = numpy.repeat(first_of - (ends - counted), counted) + numpy.arange(int(counted.sum()))
    names = _text(_binary(records.buffer, fields, 0, slots))
    values = _binary(records.buffer, fields, 1, slots)
    item = kind.value_type
    pairs = pyarrow.StructArray.from_arrays([names, values], fields=[item.field(0), item.field(1)])
    offsets = numpy.concatenate([[0], ends]).astype(numpy.int32)
    return pyarrow.ListArray.from_arrays(
        pyarrow.array(offsets), pairs, type=kind, mask=pyarrow.array(counted == 0)
    )


def _text(names: pyarrow.Array) -> pyarrow.Array:
    """A producer may send names that are not UTF-8."""
    try:
        return names.cast(pyarrow.string())
    except pyarrow.ArrowInvalid:
        return pyarrow.array([name.decode("utf-8", "replace") for name in names.to_pylist()])


def damaged_row(
    damaged: Damaged, offset: int, place: Place, schema: pyarrow.Schema
) -> pyarrow.RecordBatch:
    """The other columns are null."""
    known = {
        **place._asdict(),
        "offset": offset,
        "batchOffset": damaged.offset,
        "problem": damaged.why,
    }
    columns = [pyarrow.array([known.get(field.name)], field.type) for field in schema]
    return pyarrow.RecordBatch.from_arrays(columns, schema=schema)
