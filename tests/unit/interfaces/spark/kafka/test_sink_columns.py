"""The columns of a frame that are written."""

from __future__ import annotations

from interfaces.spark.kafka.sink_columns import SinkColumns

HEADERS = "array<struct<key:string,value:binary>>"


def test_a_frame_that_was_read_can_be_written() -> None:
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


def test_columns_that_are_not_used_may_have_any_type() -> None:
    types = {"value": "string", "topic": "int", "timestamp": "string", "offset": "map<int,int>"}
    assert SinkColumns.of(types, "t", False) == SinkColumns(False, False, False, False, "t")
