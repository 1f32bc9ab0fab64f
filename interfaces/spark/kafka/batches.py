"""Messages of confluent-kafka as record batches of Arrow, a column at a time.

A column costs one call of C for each message; whatever all of them share costs one for all.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy
import pyarrow
from confluent_kafka import Message

from interfaces.spark.columns import NO_TIME

_BINARY = pyarrow.binary()
_US = pyarrow.timestamp("us", tz="UTC")
#: Milliseconds further from 1970 are no microseconds of 64 bits: they become the outermost.
_OUTERMOST_MS = (2**63 - 1) // 1000
_BAD = "\N{REPLACEMENT CHARACTER}"


#: In lists of messages `Any` stands for Message: it is never an error here, and has an offset.
def batch_of(messages: list[Any], schema: pyarrow.Schema) -> pyarrow.RecordBatch:
    """Of messages of one partition, in order, none of them an error."""
    count, first = len(messages), messages[0]
    columns = [
        _binary(list(map(Message.key, messages))),
        _binary(list(map(Message.value, messages))),
        pyarrow.repeat(pyarrow.scalar(first.topic(), pyarrow.string()), count),
        pyarrow.repeat(pyarrow.scalar(first.partition(), pyarrow.int32()), count),
        _offsets(messages),
        *_times(messages),
    ]
    if len(schema) > len(columns):
        columns.append(pyarrow.array(list(_headers(messages)), schema.field(7).type))
    return pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def _binary(values: list[bytes | None]) -> pyarrow.Array:
    """One copy into a buffer of the right size, where Arrow would let one grow."""
    count = len(values)
    if None in values:
        if values.count(None) == count:
            return pyarrow.nulls(count, _BINARY)
        return pyarrow.array(values, _BINARY)
    edges: Any = numpy.zeros(count + 1, dtype=numpy.int32)
    numpy.cumsum(numpy.fromiter(map(len, values), numpy.int32, count), out=edges[1:])  # type: ignore[arg-type]
    joined = pyarrow.py_buffer(b"".join(values))  # type: ignore[arg-type]
    return pyarrow.Array.from_buffers(_BINARY, count, [None, pyarrow.py_buffer(edges), joined])


def _offsets(messages: list[Any]) -> pyarrow.Array:
    first, last = messages[0].offset(), messages[-1].offset()
    if last - first + 1 == len(messages):
        return pyarrow.array(numpy.arange(first, last + 1, dtype=numpy.int64))
    return pyarrow.array(map(Message.offset, messages), pyarrow.int64(), size=len(messages))


def _times(messages: list[Any]) -> tuple[pyarrow.Array, pyarrow.Array]:
    each = chain.from_iterable(map(Message.timestamp, messages))
    kinds, times = numpy.fromiter(each, numpy.int64, 2 * len(messages)).reshape(-1, 2).T
    micros = numpy.clip(times, -_OUTERMOST_MS, _OUTERMOST_MS) * 1000
    # librdkafka counts the kinds from 0, Java from -1.
    return pyarrow.array(micros).cast(_US), pyarrow.array((kinds + NO_TIME).astype(numpy.int32))


def _headers(messages: list[Any]) -> Iterator[list[dict[str, Any]] | None]:
    """None where there are none, as the connector has it. `map` calls from C, which always looks
    for a failure: Python's own call, once it is warm, takes a broken list for an answer."""
    given: Iterator[Any] = map(Message.headers, messages)
    for message in messages:
        try:
            headers = next(given)
        except (SystemError, UnicodeDecodeError) as failure:
            headers = _headers_of_other_bytes(message, failure)
        yield [{"key": key, "value": value} for key, value in headers] if headers else None


def _headers_of_other_bytes(message: Any, failure: Exception) -> list[tuple[str, bytes | None]]:
    """Names that are not UTF-8 are replaced. confluent-kafka refuses all headers of such a record
    once; then it gives a list of pairs where such a name is a hole that nothing may touch: the
    garbage collector's view passes over it. The failure has the bytes of one name only."""
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
