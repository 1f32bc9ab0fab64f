"""The columns of both data sources: those of Spark's own Kafka connector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

CREATE_TIME, LOG_APPEND_TIME, NO_TIME = 0, 1, -1
#: Timestamps beyond it do not fit into 64 bits of microseconds and are clipped.
_OUTERMOST_MS = (2**63 - 1) // 1000

_COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "timestampType int"
)
_HEADERS = "headers array<struct<key: string, value: binary>>"


def columns(with_headers: bool) -> str:
    """A schema in Spark's DDL."""
    return f"{_COLUMNS}, {_HEADERS}" if with_headers else _COLUMNS


def arrow_columns(with_headers: bool) -> pyarrow.Schema:
    import pyarrow

    fields = [
        ("key", pyarrow.binary()),
        ("value", pyarrow.binary()),
        ("topic", pyarrow.string()),
        ("partition", pyarrow.int32()),
        ("offset", pyarrow.int64()),
        ("timestamp", pyarrow.timestamp("us", tz="UTC")),
        ("timestampType", pyarrow.int32()),
    ]
    if with_headers:
        header = pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])
        fields.append(("headers", pyarrow.list_(header)))
    return pyarrow.schema(fields)


def timestamps(milliseconds: Any) -> pyarrow.Array:
    """Of a numpy array."""
    import pyarrow

    clipped = milliseconds.clip(-_OUTERMOST_MS, _OUTERMOST_MS) * 1000
    kind = pyarrow.timestamp("us", tz="UTC")
    return pyarrow.Array.from_buffers(kind, len(clipped), [None, pyarrow.py_buffer(clipped)])
