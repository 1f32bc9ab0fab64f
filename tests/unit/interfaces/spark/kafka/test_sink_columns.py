"""Which frames can be written, and the line for those that cannot."""

from __future__ import annotations

from interfaces.spark.kafka.sink_columns import SinkColumns

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
