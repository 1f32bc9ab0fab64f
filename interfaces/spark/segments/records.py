"""Records of whole batches as columns: the bounds of each field in one buffer.

A Python loop finds the start of each record, as that takes the length of the record before. numpy
does the rest for all records at once, with the checks of
`domain.messages.message:decode_messages`, against which it is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy
from numpy.typing import NDArray

from domain.errors import InvalidRecord
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.messages.varint import read_varint

Numbers: TypeAlias = "NDArray[numpy.int64]"
Flags: TypeAlias = "NDArray[numpy.bool_]"
Bytes: TypeAlias = "NDArray[numpy.uint8]"

_MIN_RECORD_BYTES = 7
_MIN_HEADER_BYTES = 2
_INT32_GROUPS, _INT64_GROUPS = 5, 10
#: Fewer rows are faster one by one.
_ROWS_WORTH_A_ROUND = 16


class Opened(NamedTuple):
    batch: RecordBatch
    #: Its decompressed records.
    payload: bytes | memoryview


class Fields(NamedTuple):
    """Two fields for each row; a null field is empty and has its flag set."""

    #: For each row: start and end of the first field, start and end of the second.
    bounds: NDArray[numpy.int32]
    first_null: Flags
    second_null: Flags


class Records:
    __slots__ = ("batch", "buffer", "header_counts", "headers", "key_value", "offset", "timestamp")

    def __init__(
        self,
        buffer: bytes,
        batch: Numbers,
        offset: Numbers,
        timestamp: Numbers,
        key_value: Fields,
        header_counts: Numbers,
        headers: Fields | None,
    ) -> None:
        self.buffer = buffer
        #: The index of its batch.
        self.batch = batch
        self.offset = offset
        self.timestamp = timestamp
        self.key_value = key_value
        self.header_counts = header_counts
        #: All headers of the first record, then those of the second. None: not decoded.
        self.headers = headers


def decode(opened: Sequence[Opened], with_headers: bool) -> Records:
    """Raises InvalidRecord if any batch is malformed."""
    joined = b"".join(each.payload for each in opened)
    try:
        starts, ends = _bounds(joined, opened)
        return _fields(joined, opened, starts, ends, with_headers)
    except IndexError:
        raise InvalidRecord("A record ends within a varint.") from None


def _bounds(buffer: bytes, opened: Sequence[Opened]) -> tuple[Numbers, Numbers]:
    """Start and end of each record, after its length; raises IndexError at the buffer's end.

    If the last record ends where the batch ends, all records are within the batch.
    """
    starts: list[int] = []
    ends: list[int] = []
    begins, finishes = starts.append, ends.append
    position = 0
    for batch, payload in opened:
        limit = position + len(payload)
        if batch.count * _MIN_RECORD_BYTES > len(payload):
            raise InvalidRecord(f"{batch.count} records do not fit in {len(payload)} bytes.")
        for _ in range(batch.count):
            raw = buffer[position]
            position += 1
            if raw >= 0x80:
                second = buffer[position]
                if second < 0x80:
                    raw += (second << 7) - 0x80
                    position += 1
                else:
                    length, position = read_varint(buffer, position - 1)
                    raw = length << 1 if length >= 0 else 1
            if raw & 1:
                raise InvalidRecord("A record of a negative length.")
            begins(position)
            position += raw >> 1
            finishes(position)
        if position != limit:
            raise InvalidRecord(f"The records end {position - limit} bytes behind their batch.")
    return numpy.array(starts, numpy.int64), numpy.array(ends, numpy.int64)


def _fields(
    joined: bytes, opened: Sequence[Opened], starts: Numbers, ends: Numbers, with_headers: bool
) -> Records:
    buffer = numpy.frombuffer(joined, numpy.uint8)
    _check(ends - starts >= _MIN_RECORD_BYTES - 1)
    # Positions only grow, so one check against the end below is enough.
    time_deltas, position = _varints(buffer, starts + 1, _INT64_GROUPS)
    offset_deltas, position = _varints(buffer, position, _INT32_GROUPS)
    key, position = _field(buffer, position, ends)
    value, position = _field(buffer, position, ends)
    header_counts, position = _varints(buffer, position, _INT32_GROUPS)
    _check(position <= ends)
    _check((header_counts >= 0) & (header_counts * _MIN_HEADER_BYTES <= ends - position))
    bare = header_counts == 0
    _check(position[bare] == ends[bare])
    headers = None
    if with_headers:
        headers = _headers(joined, buffer, header_counts, position, ends)
    counts = [each.batch.count for each in opened]
    of_batch: Numbers = numpy.repeat(numpy.arange(len(opened), dtype=numpy.int64), counts)
    base_offsets = numpy.array([each.batch.base_offset for each in opened], numpy.int64)
    return Records(
        joined,
        of_batch,
        base_offsets[of_batch] + offset_deltas,
        _timestamps(opened, of_batch, time_deltas),
        _paired(*key, *value),
        header_counts,
        headers,
    )


def _timestamps(opened: Sequence[Opened], of_batch: Numbers, deltas: Numbers) -> Numbers:
    base = numpy.array(
        [
            batch.max_timestamp if batch.attributes & LOG_APPEND_TIME else batch.base_timestamp
            for batch, _ in opened
        ],
        numpy.int64,
    )
    by_log = numpy.array([bool(each.batch.attributes & LOG_APPEND_TIME) for each in opened])
    return base[of_batch] + numpy.where(by_log[of_batch], 0, deltas)


def _varints(buffer: Bytes, at: Numbers, groups: int) -> tuple[Numbers, Numbers]:
    """The number at each position, and the position behind it."""
    byte = buffer[at]
    raw = (byte & 0x7F).astype(numpy.uint64)
    after = at + 1
    going = numpy.flatnonzero(byte >= 0x80)
    shift = 7
    while going.size:
        if shift == 7 * groups:
            raise InvalidRecord(f"A varint is longer than {groups} bytes.")
        byte = buffer[after[going]]
        if shift == 7 * (groups - 1):  # reject bits beyond the type's width
            _check((byte & 0x7F) < (0x10 if groups == _INT32_GROUPS else 0x02))
        raw[going] |= (byte & 0x7F).astype(numpy.uint64) << numpy.uint64(shift)
        after[going] += 1
        going = going[byte >= 0x80]
        shift += 7
    one = numpy.uint64(1)
    return (raw >> one).astype(numpy.int64) ^ -(raw & one).astype(numpy.int64), after


def _field(
    buffer: Bytes, position: Numbers, ends: Numbers
) -> tuple[tuple[Numbers, Numbers, Flags], Numbers]:
    """Start, end and null flag; and the position behind the field."""
    length, start = _varints(buffer, position, _INT32_GROUPS)
    after = start + numpy.maximum(length, 0)
    _check(after <= ends)
    return (start, after, length < 0), after


def _paired(
    first: Numbers, first_end: Numbers, first_null: Flags,
    second: Numbers, second_end: Numbers, second_null: Flags,
) -> Fields:  # fmt: skip
    bounds: NDArray[Any] = numpy.empty((len(first), 4), numpy.int32)
    bounds[:, 0], bounds[:, 1], bounds[:, 2], bounds[:, 3] = first, first_end, second, second_end
    return Fields(bounds.reshape(-1), first_null, second_null)


def _headers(
    joined: bytes, buffer: Bytes, counts: Numbers, position: Numbers, ends: Numbers
) -> Fields:
    """In rounds: the first header of all records, then the second, and so on."""
    first_of = numpy.cumsum(counts) - counts
    total = int(counts.sum())
    bounds: NDArray[Any] = numpy.empty((total, 4), numpy.int64)
    null: Flags = numpy.zeros(total, numpy.bool_)
    rows = numpy.flatnonzero(counts)
    at, number = position[rows], 0
    while rows.size >= _ROWS_WORTH_A_ROUND:
        slots, limit = first_of[rows] + number, ends[rows]
        (start, end, nameless), at = _field(buffer, at, limit)
        _check(~nameless)
        bounds[slots, 0], bounds[slots, 1] = start, end
        (start, end, null[slots]), at = _field(buffer, at, limit)
        bounds[slots, 2], bounds[slots, 3] = start, end
        number += 1
        more = counts[rows] > number
        _check(at[~more] == limit[~more])
        rows, at = rows[more], at[more]
    for row, place in zip(rows.tolist(), at.tolist(), strict=True):
        slots_left = range(first_of[row] + number, first_of[row] + counts[row])
        _headers_of_one(joined, place, int(ends[row]), slots_left, bounds, null)
    return Fields(bounds.astype(numpy.int32).reshape(-1), numpy.zeros(total, numpy.bool_), null)


def _headers_of_one(
    joined: bytes, position: int, end: int, slots: range, bounds: NDArray[Any], null: Flags
) -> None:
    for slot in slots:
        name_length, name = read_varint(joined, position)
        value_length, value = read_varint(joined, name + max(name_length, 0))
        position = value + max(value_length, 0)
        if name_length < 0 or position > end:
            raise InvalidRecord("A header has no name, or goes on behind its record.")
        bounds[slot] = name, name + name_length, value, position
        null[slot] = value_length < 0
    if position != end:
        raise InvalidRecord("A record is not as long as it says.")


def _check(holds: Flags) -> None:
    if not holds.all():
        raise InvalidRecord("A record is not as long as it says.")
