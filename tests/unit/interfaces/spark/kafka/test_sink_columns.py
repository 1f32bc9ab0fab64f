"""Which frames can be written, and the line for those that cannot."""

from __future__ import annotations

import pytest

from interfaces.spark.kafka.sink_columns import SinkColumns
from interfaces.spark.query.failures import WrongOption

HEADERS = "array<struct<key:string,value:binary>>"


def test_what_was_read_can_be_written_again() -> None:
    read = {
        "key": "binary",
        "value": "binary",
        "topic": "string",
        "partition": "int",
        "offset": "bigint",
        "timestamp": "timestamp",
        "timestampType": "int",
        "headers": HEADERS,
    }
    assert SinkColumns.of(read, None, False) == SinkColumns(True, True, True, False, None)
    assert SinkColumns.of(read, "t", True) == SinkColumns(True, True, True, True, "t")


def test_what_is_not_used_may_be_anything() -> None:
    types = {"value": "string", "topic": "int", "timestamp": "string", "offset": "map<int,int>"}
    assert SinkColumns.of(types, "t", False) == SinkColumns(False, False, False, False, "t")


@pytest.mark.parametrize(
    "types, topic, use_timestamp, told",
    [
        ({}, "t", False, "the column value is missing; there is no column at all ("),
        ({"id": "bigint", "key": "int"}, "t", False, "the column value is missing; there are id,"),
        ({"value": "string"}, None, False, "no topic: give the option topic, or a column topic"),
        ({"value": "string"}, "t", True, "useTimestamp=true, and there is no column timestamp"),
        ({"value": "int"}, "t", False, "the column value is int, not a string or binary"),
        ({"value": "string", "key": "int"}, "t", False, "the column key is int, not a string or"),
        ({"value": "string", "topic": "int"}, None, False, "the column topic is int, not a string"),
        (
            {"value": "string", "timestamp": "timestamp_ntz"},
            "t",
            True,
            "the column timestamp is timestamp_ntz, not a timestamp",
        ),
        (
            {"value": "string", "headers": "array<struct<key:string,value:string>>"},
            "t",
            False,
            "the column headers is array<struct<key:string,value:string>>, not an array of struct<",
        ),
    ],
)
def test_the_line_for_what_cannot_be_written(
    types: dict[str, str], topic: str | None, use_timestamp: bool, told: str
) -> None:
    with pytest.raises(WrongOption) as raised:
        SinkColumns.of(types, topic, use_timestamp)
    assert str(raised.value).startswith(told)
