"""Records as lines of JSON: `ottla consume --output json` writes them, and
`ottla produce --json-lines` reads them."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

from interfaces.cli.failures import UsageError
from interfaces.cli.format import Printed

_TYPES: dict[str, type] = {
    "topic": str, "partition": int, "offset": int, "timestamp": int, "headers": list,
    "key": str, "key_base64": str, "value": str, "value_base64": str,
}  # fmt: skip
_NAMES = {str: "a text", int: "a whole number", list: "an array"}
_HEADER_TYPES: dict[str, type] = {"name": str, "value": str, "value_base64": str}


def json_line(message: Printed) -> bytes:
    """One object in a line; bytes that are not UTF-8 are base64, as NAME_base64."""
    line: dict[str, Any] = {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": message.timestamp()[1],
    }
    _put(line, "key", message.key())
    _put(line, "value", message.value())
    headers = []
    for name, value in message.headers() or ():
        header: dict[str, Any] = {"name": name}
        _put(header, "value", value)
        headers.append(header)
    line["headers"] = headers
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _put(into: dict[str, Any], name: str, data: bytes | None) -> None:
    try:
        into[name] = None if data is None else data.decode()
    except UnicodeDecodeError:
        into[f"{name}_base64"] = b64encode(data or b"").decode()


def facts_of(raw: bytes, number: int) -> dict[str, Any]:
    """The topic, partition, key, value, headers and timestamp of a line, as far as it has them."""
    try:
        line = _checked(_parsed(raw), _TYPES)
        headers = [_header(one) for one in line.get("headers") or ()]
        facts = {"key": _get(line, "key"), "value": _get(line, "value"), "headers": headers}
    except (ValueError, RecursionError) as wrong:
        raise UsageError(f"input line {number}: {wrong}") from None
    # Without a timestamp a record has -1.
    has_time = (line.get("timestamp") or 0) > 0
    names = ("topic", "partition", *(("timestamp",) if has_time else ()))
    return facts | {name: line[name] for name in names if line.get(name) is not None}


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except json.JSONDecodeError as wrong:
        # Its own text has a line number, too: that of a JSON document with several lines.
        raise ValueError(f"not JSON ({wrong.msg}, column {wrong.colno})") from None


def _header(given: Any) -> tuple[str, bytes | None]:
    header = _checked(given, _HEADER_TYPES)
    if header.get("name") is None:
        raise ValueError("a header has no name")
    return header["name"], _get(header, "value")


def _checked(given: Any, types: dict[str, type]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError("not a JSON object")
    for name, value in given.items():
        if name not in types:
            raise ValueError(f"unknown field {name}")
        if value is not None and type(value) is not types[name]:
            raise ValueError(f"{name} is not {_NAMES[types[name]]}")
        if isinstance(value, str):
            # The client library crashes on a lone surrogate.
            value.encode()
    return given


def _get(line: dict[str, Any], name: str) -> bytes | None:
    in_base64: str | None = line.get(f"{name}_base64")
    text: str | None = line.get(name)
    if in_base64 is not None:
        return b64decode(in_base64, validate=True)
    return None if text is None else text.encode()
