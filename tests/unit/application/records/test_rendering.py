from __future__ import annotations

import csv
import io
import json

import pytest

from application.records.plan import OffsetRange
from application.records.rendering import CSV_HEAD, csv_line, json_line, shown
from application.records.scan import FoundRecord
from domain.messages.message import Headers, Message


def found(
    value: bytes | None, key: bytes | None = None, headers: Headers = (), by_log: bool = False
) -> FoundRecord:
    message = Message(7, 1_700_000_000_000, key, value, headers)
    return FoundRecord(OffsetRange(3, 1, 0, 10, 10), message, by_log)


@pytest.mark.parametrize(
    "data, text, what",
    [
        (None, "null", "null"),
        (b"", '""', "string"),
        (b"plain", '"plain"', "string"),
        ("käse\n".encode(), '"käse\\n"', "string"),
        (b"42", '"42"', "string"),
        (b"null", '"null"', "string"),
        (b'{"a": 1.10}', '{"a": 1.10}', "json"),
        (b' [1,\r\n "x"]', ' [1,   "x"]', "json"),
        (b'{"a": 123456789012345678901234567890}', None, "json"),
        (b'{"a": NaN}', '"{\\"a\\": NaN}"', "string"),
        (b"{broken", '"{broken"', "string"),
        (b"[" * 100_000 + b"]" * 100_000, None, "string"),
        (b"\xff\x00", '"/wA="', "base64"),
        (b'{"a": "\xff"}', None, "base64"),
    ],
)
def test_the_format_of_bytes_is_detected(data: bytes | None, text: str | None, what: str) -> None:
    rendered, kind = shown(data)
    assert kind == what
    assert text is None or rendered == text
    json.loads(rendered)
    assert "\n" not in rendered and "\r" not in rendered


def test_the_format_of_bytes_can_be_chosen() -> None:
    assert shown(b'{"a":1}', "string") == ('"{\\"a\\":1}"', "string")
    assert shown(b"abc", "base64") == ('"YWJj"', "base64")
    assert shown(b"\xff", "string") == ('"/w=="', "base64")
    assert shown(None, "base64") == ("null", "null")


def test_a_json_line_has_all_fields() -> None:
    headers = ((b"h", b"1"), (b"\xff", None))
    line = json_line(found(b'{"n": 1}', b"k", headers, by_log=True))
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert json.loads(line) == {
        "partition_id": 3,
        "offset": 7,
        "timestamp": 1_700_000_000_000,
        "timestamp_type": "log_append_time",
        "key": "k",
        "key_format": "string",
        "key_size": 1,
        "value": {"n": 1},
        "value_format": "json",
        "value_size": 8,
        "headers": [
            {"name": "h", "value": "1", "value_format": "string"},
            {"name": "\ufffd", "value": None, "value_format": "null"},
        ],
        "size": 12,
    }


def cells(line: bytes) -> list[str]:
    [row] = csv.reader(io.StringIO(line.decode(), newline=""))
    return row


def test_csv_has_a_cell_for_each_column() -> None:
    assert cells(CSV_HEAD)[:2] == ["partition", "offset"]
    row = cells(csv_line(found(b'say "hi",\r\nor not', b"k")))
    assert len(row) == len(cells(CSV_HEAD))
    assert row[:4] == ["3", "7", "1700000000000", "create_time"]
    assert row[4:8] == ["k", "string", 'say "hi",\r\nor not', "string"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_is_a_formula(start: str) -> None:
    row = cells(csv_line(found(f"{start}cmd|' /C calc'!A0".encode(), start.encode())))
    assert row[4].startswith("'" + start)
    assert row[6].startswith("'" + start)


def test_null_and_empty_have_different_formats() -> None:
    assert cells(csv_line(found(None, b"")))[4:8] == ["", "string", "", "null"]
