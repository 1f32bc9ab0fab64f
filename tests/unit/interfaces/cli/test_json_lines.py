from __future__ import annotations

import json

import pytest

from interfaces.cli.failures import UsageError
from interfaces.cli.json_lines import facts_of, json_line
from tests.unit.interfaces.cli.test_format import record


def test_json_is_one_line_with_all_fields() -> None:
    line = json_line(record(b"\xff", "é\n".encode(), [("h", None), ("i", b"\xfe")]))
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "topic": "orders",
        "partition": 3,
        "offset": 47,
        "timestamp": 1_700_000_000_123,
        "key_base64": "/w==",
        "value": "é\n",
        "headers": [{"name": "h", "value": None}, {"name": "i", "value_base64": "/g=="}],
    }


@pytest.mark.parametrize(
    "line",
    [
        b"", b"{", b"[]", b"7", b'{"vaule": "x"}', b'{"value": 7}', b'{"partition": true}',
        b'{"key_base64": "*"}', b'{"headers": [1]}', b'{"headers": [{"value": "x"}]}',
        b'{"value": "\\ud800"}', b'{"topic": "\\ud800"}', b'{"headers": [{"name": "\\ud800"}]}',
        b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_line_that_is_not_a_record_is_named(line: bytes) -> None:
    with pytest.raises(UsageError, match=r"^input line 4: "):
        facts_of(line, 4)


def test_the_error_of_a_line_that_is_not_json_has_one_line_number() -> None:
    with pytest.raises(UsageError) as refused:
        facts_of(b'{"value": x}', 2)
    assert str(refused.value) == "input line 2: not JSON (Expecting value, column 11)"
