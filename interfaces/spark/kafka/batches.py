"""Messages of confluent-kafka as Arrow record batches, a column at a time.

A column costs one C call for each message.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import chain
from typing import Any, TypeAlias

import numpy
import pyarrow
from confluent_kafka import Message

from interfaces.spark.query.columns import NO_TIME, timestamps

_BINARY = pyarrow.binary()
_BAD = "\N{REPLACEMENT CHARACTER}"

Headers: TypeAlias = "list[tuple[str, bytes | None]]"


#: Messages are `Any` here: a typed Message may be an error and may lack an offset.
class Rows:
    """Messages of one partition, in order, that become one Arrow batch."""

    def __init__(self, schema: pyarrow.Schema) -> None:
        self._schema = schema
        self._has_headers = len(schema) > 7
        self._clear()

    def _clear(self) -> None:
        self._messages: list[Any] = []
        self._keys: list[bytes | None] = []
        self._values: list[bytes | None] = []
        #: The header count of each message; names and values of all headers, in turn.
        self._header_counts: list[int] = []
        self._headers: list[Any] = []
        #: Of keys, values and headers.
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._messages)

    def add(self, messages: list[Any]) -> None:
        keys = list(map(Message.key, messages))
        self._messages += messages
        self._keys += keys
        self._values += map(Message.value, messages)
        self.bytes += sum(map(len, messages)) + sum(map(len, filter(None, keys)))
        if self._has_headers:
            headers = headers_of(messages)
            names_and_values = list(chain.from_iterable(chain.from_iterable(headers)))
            self._header_counts += map(len, headers)
            self._headers += names_and_values
            self.bytes += sum(map(len, filter(None, names_and_values)))

    def batch(self) -> pyarrow.RecordBatch:
        """Needs at least one row; clears the rows."""
        messages, count = self._messages, len(self._messages)
        columns = [
            _binary(self._keys),
            _binary(self._values),
            pyarrow.repeat(pyarrow.scalar(messages[0].topic(), pyarrow.string()), count),
            pyarrow.repeat(pyarrow.scalar(messages[0].partition(), pyarrow.int32()), count),
            _offsets(messages),
            *_times(messages),
        ]
        if self._has_headers:
            kind = self._schema.field(7).type
            columns.append(_header_lists(self._header_counts, self._headers, kind))
        self._clear()
        return pyarrow.RecordBatch.from_arrays(columns, schema=self._schema)


def _binary(values: list[bytes | None]) -> pyarrow.Array:
    """One copy into a buffer of the right size; Arrow would grow one."""
    count = len(values)
    if None in values:
        if values.count(None) == count:
            return pyarrow.nulls(count, _BINARY)
        return pyarrow.array(values, _BINARY)
    edges = _edges(list(map(len, values)))  # type: ignore[arg-type]
    joined = pyarrow.py_buffer(b"".join(values))  # type: ignore[arg-type]
    return pyarrow.Array.from_buffers(_BINARY, count, [None, edges.buffers()[1], joined])


def _edges(sizes: list[int]) -> pyarrow.Array:
    """Arrow's offsets: where each value begins, and where the last one ends."""
    edges: Any = numpy.zeros(len(sizes) + 1, dtype=numpy.int32)
    numpy.cumsum(numpy.array(sizes, numpy.int32), out=edges[1:])
    return pyarrow.array(edges)


def _offsets(messages: list[Any]) -> pyarrow.Array:
    first, last = messages[0].offset(), messages[-1].offset()
    if last - first + 1 == len(messages):
        return pyarrow.array(numpy.arange(first, last + 1, dtype=numpy.int64))
    return pyarrow.array(map(Message.offset, messages), pyarrow.int64(), size=len(messages))


def _times(messages: list[Any]) -> tuple[pyarrow.Array, pyarrow.Array]:
    each = chain.from_iterable(map(Message.timestamp, messages))
    kinds, times = numpy.fromiter(each, numpy.int64, 2 * len(messages)).reshape(-1, 2).T
    # librdkafka numbers timestamp types from 0, Java from -1.
    return timestamps(times), pyarrow.array((kinds + NO_TIME).astype(numpy.int32))


def _header_lists(
    counts: list[int], names_and_values: list[Any], kind: pyarrow.ListType
) -> pyarrow.Array:
    """Null for a record without headers, as in the connector."""
    names = pyarrow.array(names_and_values[::2], pyarrow.string())
    values = _binary(names_and_values[1::2])
    pairs = pyarrow.StructArray.from_arrays([names, values], fields=list(kind.value_type))
    none = pyarrow.array([not count for count in counts])
    return pyarrow.ListArray.from_arrays(_edges(counts), pairs, type=kind, mask=none)


def headers_of(messages: list[Any]) -> list[Headers]:
    """By `map`, whose C call always checks for an exception; a specialized call of the interpreter
    returns confluent-kafka's broken list instead."""
    given: Iterator[Any] = map(Message.headers, messages)
    found: list[Headers | None] = []
    while len(found) < len(messages):
        try:
            found.extend(given)
        except (SystemError, UnicodeDecodeError) as failure:
            found.append(_headers_of_other_bytes(messages[len(found)], failure))
    return [headers or [] for headers in found]


def _headers_of_other_bytes(message: Any, failure: Exception) -> Headers:
    """Replaces names that are not UTF-8. confluent-kafka raises once for such a record; its next
    list has pairs with a NULL for such a name, which only the garbage collector's view skips. The
    exception has the bytes of one name only."""
    why = failure if isinstance(failure, UnicodeDecodeError) else failure.__cause__
    name = why.object.decode("utf-8", "replace") if isinstance(why, UnicodeDecodeError) else _BAD
    pairs: Any
    try:
        (pairs,) = map(Message.headers, [message])
    except (SystemError, UnicodeDecodeError):
        return [(name, None)]
    parts = [gc.get_referents(pair) for pair in pairs or ()]
    holes = [at for at, part in enumerate(parts) if len(part) < 2]
    if len(holes) > 1:
        name = _BAD
    return [(name, parts[at][0]) if at in holes else pair for at, pair in enumerate(pairs or ())]
