from __future__ import annotations

from typing import Any

import pytest

from interfaces.rest.errors import RestError
from interfaces.rest.records.outgoing import BAD_RECORD, outgoing, parse_object


@pytest.mark.parametrize(
    "field, data",
    [
        (None, None),
        ("text", b"text"),
        ({"type": "STRING", "data": "käse"}, "käse".encode()),
        ({"type": "BINARY", "data": "AP8="}, b"\x00\xff"),
        ({"type": "BINARY", "data": ""}, b""),
        ({"type": "JSON", "data": {"a": [1, 2.5, "ä"]}}, '{"a":[1,2.5,"ä"]}'.encode()),
        ({"type": "JSON", "data": 12345678901234567890123}, b"12345678901234567890123"),
        ({"type": "JSON", "data": False}, b"false"),
        ({"type": "JSON", "data": None}, None),
        ({"type": "STRING"}, None),
        ({"type": "STRING", "data": "x", "schema_id": None, "subject": None}, b"x"),
    ],
)
def test_values(field: Any, data: bytes | None) -> None:
    sent = outgoing({"key": field, "value": field})
    assert (sent.record.key, sent.record.value) == (data, data)


def test_all_fields_of_a_record() -> None:
    sent = outgoing(
        {
            "partition_id": 3,
            "timestamp": "2026-11-22T05:00:00+01:00",
            "headers": [
                {"name": "h", "value": "AA=="},
                {"name": "n", "value": None},
                {"name": "m"},
            ],
        }
    ).record
    assert (sent.key, sent.value, sent.partition) == (None, None, 3)
    assert sent.timestamp == 1_795_320_000_000
    assert sent.headers == ((b"h", b"\x00"), (b"n", None), (b"m", None))
    assert outgoing({"timestamp": 17}).record.timestamp == 17


@pytest.mark.parametrize(
    "body, words",
    [
        ([], "an object"),
        ({"values": 1}, "unknown field values"),
        ({"value": 1}, "value: expected"),
        ({"value": {"type": "AVRO", "data": 1}}, "value.type: expected"),
        ({"value": {"data": "x"}}, "value.type: expected"),
        ({"value": {"type": "STRING", "data": 1}}, "value.data: expected a string"),
        ({"value": {"type": "STRING", "data": "\ud800"}}, "surrogate"),
        ({"value": {"type": "JSON", "data": {"n": float("inf")}}}, "number is too large"),
        ({"\ud800": 1}, "unknown field ?"),
        ({"key": {"type": "BINARY", "data": "%"}}, "key: expected base64"),
        ({"key": {"type": "BINARY", "data": "ä"}}, "key: expected base64"),
        ({"key": {"type": "JSON", "data": 1, "schema": 2}}, "key.schema: expected null"),
        ({"key": {"type": "JSON", "data": 1, "scheme": 2}}, "key: expected"),
        ({"partition_id": -1}, "partition_id"),
        ({"partition_id": True}, "partition_id"),
        ({"timestamp": "yesterday"}, "timestamp"),
        ({"headers": {}}, "headers"),
        ({"headers": [{"value": "AA=="}]}, "headers"),
        ({"headers": [{"name": "h", "value": 1}]}, "headers"),
        ({"headers": [{"name": "h", "value": "?"}]}, "headers"),
    ],
)
def test_a_record_that_is_not_valid_is_refused(body: Any, words: str) -> None:
    with pytest.raises(RestError) as refused:
        outgoing(body)
    assert words in refused.value.message
    assert refused.value.code == BAD_RECORD


@pytest.mark.parametrize("text", [b"{", b'{"a":NaN}', b"[" * 100_000, b'"\xff"'])
def test_invalid_json_is_refused(text: bytes) -> None:
    with pytest.raises(RestError, match="400: it is not JSON"):
        parse_object(text)
