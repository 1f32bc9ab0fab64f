"""Renders records as lines of JSON or CSV.

JSON objects and arrays are rendered as such, other UTF-8 as a string, anything else in base64, each
with the name of its format. A number is a string, too: `42` may be any. A line of JSON contains no
line break.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import NoReturn

from application.records.scan import FoundRecord, OfProducer
from domain.messages.message import Message

AUTO, STRING, BASE64 = "auto", "string", "base64"
#: The state of a transaction, until `TransactionalScan` fills it in.
UNRESOLVED = b'"?"'

_SPACE = b" \t\r\n"
_quoted = json.JSONEncoder(ensure_ascii=False).encode
_LINE_BREAKS = str.maketrans("\r\n", "  ")

#: A spreadsheet would evaluate a cell with such a start as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

CSV_COLUMNS = (
    "partition", "offset", "timestamp", "timestamp_type",
    "key", "key_format", "value", "value_format", "headers",
)  # fmt: skip


def shown(data: bytes | None, data_format: str = AUTO) -> tuple[str, str]:
    """A JSON text for the bytes, and its format: json, string, base64 or null."""
    if data is None:
        return "null", "null"
    if data_format != BASE64:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            pass
        else:
            if data_format == AUTO and data.lstrip(_SPACE)[:1] in (b"{", b"[") and _is_json(text):
                return text.translate(_LINE_BREAKS), "json"
            return _quoted(text), "string"
    return f'"{base64.b64encode(data).decode()}"', "base64"


def json_line(found: FoundRecord, data_format: str = AUTO) -> bytes:
    message = found.message
    key, key_format = shown(message.key, data_format)
    value, value_format = shown(message.value, data_format)
    headers = ",".join(_header(name, content, data_format) for name, content in message.headers)
    kind = "log_append_time" if found.log_append_time else "create_time"
    return (
        f'{{"partition_id":{found.range.index},"offset":{message.offset},'
        f'"timestamp":{message.timestamp},"timestamp_type":"{kind}",'
        f'"key":{key},"key_format":"{key_format}","key_size":{_size(message.key)},'
        f'"value":{value},"value_format":"{value_format}","value_size":{_size(message.value)},'
        f'"headers":[{headers}],"size":{size_of(message)}{_producer(found.producer)}}}\n'
    ).encode()


def _producer(of: OfProducer | None) -> str:
    if of is None:
        return ""
    if of.marker is not None:
        transaction = '"commit_marker"' if of.marker else '"abort_marker"'
    else:
        transaction = UNRESOLVED.decode() if of.is_transactional else "null"
    return (
        f',"producer_id":{of.producer_id},"producer_epoch":{of.producer_epoch},'
        f'"transaction":{transaction}'
    )


def csv_line(found: FoundRecord, data_format: str = AUTO) -> bytes:
    message = found.message
    key, key_format = _cell(message.key, data_format)
    value, value_format = _cell(message.value, data_format)
    headers = ",".join(_header(name, content, data_format) for name, content in message.headers)
    kind = "log_append_time" if found.log_append_time else "create_time"
    cells = (
        str(found.range.index), str(message.offset), str(message.timestamp), kind,
        key, key_format, value, value_format, f"[{headers}]",
    )  # fmt: skip
    return (",".join(map(_csv, cells)) + "\r\n").encode()


CSV_HEAD = (",".join(CSV_COLUMNS) + "\r\n").encode()

#: By format: the header, and the function that renders a record.
Line = Callable[[FoundRecord, str], bytes]
LINES: dict[str, tuple[bytes, Line]] = {"json": (b"", json_line), "csv": (CSV_HEAD, csv_line)}


def size_of(message: Message) -> int:
    """Bytes of key, value and headers."""
    headers = sum(len(name) + len(value or b"") for name, value in message.headers)
    return len(message.key or b"") + len(message.value or b"") + headers


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _header(name: bytes, content: bytes | None, data_format: str) -> str:
    value, value_format = shown(content, STRING if data_format == AUTO else data_format)
    quoted = _quoted(name.decode(errors="replace"))
    return f'{{"name":{quoted},"value":{value},"value_format":"{value_format}"}}'


def _cell(data: bytes | None, data_format: str) -> tuple[str, str]:
    """A string without the quotes of JSON."""
    text, what = shown(data, data_format)
    if what == "null":
        return "", what
    return (text, what) if what == "json" else (json.loads(text), what)


def _csv(cell: str) -> str:
    if cell.startswith(_FORMULA_STARTS):
        cell = "'" + cell
    if any(each in cell for each in ',"\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> NoReturn:
    """Python accepts NaN and Infinity, which are not JSON."""
    raise ValueError(constant)
