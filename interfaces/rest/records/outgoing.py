"""Records as clients of Confluent's v3 produce them, and the report of each."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, NoReturn

from application.records.send import Delivered, OutgoingRecord
from domain.messages.message import Headers
from interfaces.rest.errors import NO_JSON, RestError
from interfaces.rest.records.queries import from_base64
from interfaces.rest.responses import encodable
from interfaces.rest.timestamps import timestamp_of

_FIELDS = frozenset({"partition_id", "timestamp", "headers", "key", "value"})
_DATA_FIELDS = frozenset({"type", "data"})
#: Confluent's clients send these for a schema registry, which Ottla does not have.
_SCHEMA_FIELDS = frozenset(
    {"schema", "schema_id", "schema_version", "subject", "subject_name_strategy"}
)
_HEADER_FIELDS = frozenset({"name", "value"})
_INT_MAX = 2**31 - 1

#: For a key that decides the partition: murmur2 in Python blocks the loop.
MAX_HASHED_BYTES = 16 * 1024
#: Confluent's code for JSON that is not a record.
BAD_RECORD = 42206


class Outgoing:
    """A record, and the types of its key and value in the request."""

    __slots__ = ("key_type", "record", "value_type")

    def __init__(
        self, record: OutgoingRecord, key_type: str | None, value_type: str | None
    ) -> None:
        self.record = record
        self.key_type = key_type
        self.value_type = value_type


def parse_object(text: bytes) -> Any:
    """Raises RestError. Python's parser: orjson would round large integers."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise RestError(400, "it is not JSON", NO_JSON) from None


def outgoing(body: Any, also: frozenset[str] = frozenset()) -> Outgoing:
    """Raises RestError. `also`: fields that the caller reads."""
    if not isinstance(body, dict):
        raise _bad("a record is an object")
    unknown = body.keys() - _FIELDS - also
    if unknown:
        raise _bad(f"unknown field {min(unknown)}")
    key, key_type = _data("key", body.get("key"))
    value, value_type = _data("value", body.get("value"))
    record = OutgoingRecord(
        key, value, _headers(body.get("headers")), _partition(body), _timestamp(body)
    )
    if record.partition is None and len(key or b"") > MAX_HASHED_BYTES:
        raise _bad(f"key: with more than {MAX_HASHED_BYTES} bytes a record needs a partition_id")
    return Outgoing(record, key_type, value_type)


def _data(name: str, given: Any) -> tuple[bytes | None, str | None]:
    if given is None:
        return None, None
    if isinstance(given, str):
        return _text(name, given), "STRING"
    if not isinstance(given, dict) or given.keys() - _DATA_FIELDS - _SCHEMA_FIELDS:
        raise _bad(f'{name}: expected {{"type": "JSON", "STRING" or "BINARY", "data": ...}}')
    for field in _SCHEMA_FIELDS:
        if given.get(field) is not None:
            raise _bad(f"{name}.{field}: expected null, as there is no schema registry")
    kind, data = given.get("type"), given.get("data")
    if kind not in ("JSON", "STRING", "BINARY"):
        raise _bad(f"{name}.type: expected JSON, STRING or BINARY")
    if data is None:
        return None, kind
    if kind == "JSON":
        return _text(name, _json(name, data)), kind
    if not isinstance(data, str):
        raise _bad(f"{name}.data: expected a string")
    return (_text(name, data) if kind == "STRING" else _binary(name, data)), kind


def _json(name: str, data: Any) -> str:
    try:
        return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        # Python reads 1e999 as infinity, which JSON cannot express.
        raise _bad(f"{name}: a number is too large, or it is nested too deep") from None


def _text(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _bad(f"{name}: half of a surrogate pair is not text") from None


def _binary(name: str, text: str) -> bytes:
    try:
        return from_base64(text)
    except ValueError:
        raise _bad(f"{name}: expected base64") from None


def _headers(given: Any) -> Headers:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise _bad("headers: expected an array")
    headers = []
    for each in given:
        fits = isinstance(each, dict) and not each.keys() - _HEADER_FIELDS
        if not fits or not isinstance(each.get("name"), str):
            raise _bad('headers: expected {"name": ..., "value": base64 or null}')
        value = each.get("value")
        if value is not None and not isinstance(value, str):
            raise _bad("headers: the value is base64 or null")
        content = None if value is None else _binary("headers", value)
        headers.append((_text("headers", each["name"]), content))
    return tuple(headers)


def _partition(body: dict[str, Any]) -> int | None:
    index = body.get("partition_id")
    if index is None or (type(index) is int and 0 <= index <= _INT_MAX):
        return index
    raise _bad("partition_id: expected a number from 0 on")


def _timestamp(body: dict[str, Any]) -> int | None:
    given = body.get("timestamp")
    if given is None:
        return None
    try:
        return timestamp_of(given)
    except ValueError as wrong:
        raise _bad(f"timestamp: {wrong}") from None


def delivered(
    sent: Outgoing, delivery: Delivered, cluster_id: str, topic_name: str
) -> dict[str, Any]:
    """The report of one record."""
    return {
        "cluster_id": cluster_id,
        "topic_name": topic_name,
        "partition_id": delivery.partition,
        "offset": delivery.offset,
        "timestamp": _iso(delivery.timestamp),
        "key": _sized(sent.key_type, sent.record.key),
        "value": _sized(sent.value_type, sent.record.value),
    }


def _sized(kind: str | None, data: bytes | None) -> dict[str, Any] | None:
    return None if kind is None else {"type": kind, "size": len(data or b"")}


def _iso(timestamp: int) -> str:
    moment = datetime.fromtimestamp(timestamp / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _bad(words: str) -> RestError:
    return RestError(422, encodable(words), BAD_RECORD)


def _refuse_constant(constant: str) -> NoReturn:
    """Python's parser accepts NaN and Infinity, which are not JSON."""
    raise ValueError(constant)
