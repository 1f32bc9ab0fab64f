"""Record, and how REST reads and writes it."""

from __future__ import annotations

import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

#: Of one request: REST takes 1000 records, and `admin.request.max.bytes`.
MAX_RECORDS = 1000
MAX_BYTES = 256 * 1024

#: Text is sent in UTF-8; None is a null.
Data = bytes | str | None
Headers = Iterable[tuple[str, Data]] | Mapping[str, Data]


class Record(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def record_of(topic: str, body: dict[str, Any]) -> Record:
    """Of a page with format=base64."""
    return Record(
        topic,
        body["partition_id"],
        body["offset"],
        body["timestamp"],
        _decoded(body["key"]),
        _decoded(body["value"]),
        tuple((header["name"], _decoded(header["value"])) for header in body["headers"]),
    )


def entries_of(
    values: Iterable[Data], key: Data, headers: Headers, partition: int | None
) -> Iterator[list[dict[str, Any]]]:
    """The entries of requests that are small enough."""
    pairs: list[Any] = list(headers.items() if isinstance(headers, Mapping) else headers)
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise TypeError('headers are pairs, as [("name", b"value")]')
    same = {
        "key": _encoded(key, "key"),
        "headers": [
            {"name": name, "value": _base64(value, "value of a header")} for name, value in pairs
        ],
        "partition_id": partition,
    }
    same_size = len(json.dumps(same))
    entries: list[dict[str, Any]] = []
    size = 0
    for value in values:
        if len(entries) == MAX_RECORDS or size >= MAX_BYTES:
            yield entries
            entries, size = [], 0
        encoded = _encoded(value, "value")
        entries.append({"id": str(len(entries)), "value": encoded, **same})
        size += same_size + (len(encoded["data"]) if encoded else 0)
    if entries:
        yield entries


def _encoded(data: Data, what: str) -> dict[str, Any] | None:
    return None if data is None else {"type": "BINARY", "data": _base64(data, what)}


def _base64(data: Data, what: str) -> str | None:
    if data is None:
        return None
    if not isinstance(data, bytes | bytearray | memoryview | str):
        raise TypeError(f"the {what} has to be bytes, text or None, not {type(data).__name__}")
    content = data.encode() if isinstance(data, str) else data
    return binascii.b2a_base64(content, newline=False).decode()


def _decoded(data: str | None) -> bytes | None:
    return None if data is None else binascii.a2b_base64(data)
