"""Arrow's columns become the arguments of a producer: nulls, slices, text, headers, times."""

from __future__ import annotations

from typing import Any

import pytest

from interfaces.spark.kafka.sink_columns import SinkColumns
from interfaces.spark.kafka.sink_rows import NO_TIME_MS, SLICE_ROWS, Rows, headers_of, texts
from interfaces.spark.query.failures import JobFailed

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

TYPES = {"value": "binary", "key": "string", "topic": "string", "partition": "int"}


def delivered() -> None:
    """The callback of a producer."""


def made(columns: dict[str, Any], topic: str | None = "t", **more: Any) -> Any:
    types = {name: TYPES.get(name, "") for name in columns}
    types |= {name: kind for name, kind in _KINDS.items() if name in columns}
    used = SinkColumns.of(types, topic, more.pop("use_timestamp", False))
    return Rows(used, delivered, **more), pa.record_batch(columns)


_KINDS = {"headers": "array<struct<key:string,value:binary>>", "timestamp": "timestamp"}


def all_rows(columns: dict[str, Any], topic: str | None = "t", **more: Any) -> list[Any]:
    rows, batch = made(columns, topic, **more)
    return [row for _, part, _ in rows.slices(batch) for row in part]


def test_only_a_value_is_required() -> None:
    values = pa.array([b"a", None, b""], pa.binary())
    assert all_rows({"value": values}) == [
        ("t", b"a", None, -1, delivered),
        ("t", None, None, -1, delivered),
        ("t", b"", None, -1, delivered),
    ]


def test_topics_of_a_slice_are_known_before_its_rows() -> None:
    columns = {
        "value": pa.array([b"a", b"b"]),
        "topic": pa.array(["one", "two"]),
        "partition": pa.array([3, None], pa.int32()),
    }
    rows, batch = made(columns, None)
    ((names, part, _),) = rows.slices(batch)
    assert names == {"one", "two"}
    assert list(part) == [("one", b"a", None, 3, delivered), ("two", b"b", None, -1, delivered)]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_is_utf_8(kind: Any) -> None:
    assert texts(pa.array(["č", "", None], kind)) == ["č".encode(), b"", None]


def test_headers_of_a_slice_are_those_of_its_rows() -> None:
    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    headers = pa.array(
        [
            [{"key": "before", "value": b"0"}],
            [{"key": "a", "value": b"1"}, {"key": "a", "value": None}],
            None,
            [],
            [{"key": "b", "value": b""}],
        ],
        kind,
    )
    expected = [[("a", b"1"), ("a", None)], None, [], [("b", b"")]]
    assert headers_of(headers.slice(1), 0) == expected
    assert headers_of(headers.slice(2, 2), 0) == [None, []]


@pytest.mark.parametrize("header", [None, {"key": None, "value": b"1"}])
def test_a_header_without_a_key_is_reported_with_its_row(header: Any) -> None:
    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    fine = {"key": "a", "value": b""}
    with pytest.raises(JobFailed, match=r"^row 12 has a header without a key$"):
        headers_of(pa.array([[], [fine], [fine, header]], kind), 10)


def test_times_are_milliseconds_and_those_before_1970_are_refused() -> None:
    times = pa.array([1_612_325_106_789_999, None], pa.timestamp("us", tz="UTC"))
    columns = {"value": pa.array([b"a", b"b"]), "timestamp": times}
    rows = all_rows(columns, use_timestamp=True)
    assert [row[6] for row in rows] == [1_612_325_106_789, 0]
    assert [len(row) for row in all_rows(columns)] == [5, 5]

    columns["timestamp"] = pa.array([0, -1_000], pa.timestamp("us", tz="UTC"))
    assert [row[6] for row in all_rows(columns, use_timestamp=True)] == [0, NO_TIME_MS]
    columns["timestamp"] = pa.array([0, -1_000_000], pa.timestamp("us", tz="UTC"))
    with pytest.raises(JobFailed, match=r"^row 1 "):
        all_rows(columns, use_timestamp=True)


def test_a_negative_partition_and_a_missing_topic_are_reported_with_their_row() -> None:
    many = [b"x"] * (SLICE_ROWS + 3)
    partitions = [None] * (SLICE_ROWS + 2) + [-1]
    columns = {"value": pa.array(many), "partition": pa.array(partitions, pa.int32())}
    with pytest.raises(JobFailed, match=f"^row {SLICE_ROWS + 2} has the partition -1"):
        all_rows(columns)
    columns = {"value": pa.array(many), "topic": pa.array(["t"] * (SLICE_ROWS + 2) + [None])}
    with pytest.raises(JobFailed, match=f"^row {SLICE_ROWS + 2} has no topic"):
        all_rows(columns, None)


def test_row_numbers_continue_over_batches_and_a_stamp_follows_the_headers() -> None:
    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    count = SLICE_ROWS + 1
    headers = pa.array([[{"key": "a", "value": b"1"}]] * count, kind)
    columns = {"value": pa.array([b"x"] * count), "headers": headers}
    rows, batch = made(columns, stamp=lambda row: ("p", b"%d" % row))
    found = [row for _ in range(2) for _, part, _ in rows.slices(batch) for row in part]
    assert rows.number == len(found) == 2 * count
    assert [row[7] for row in found] == [
        [("a", b"1"), ("p", b"%d" % number)] for number in range(2 * count)
    ]


def test_an_empty_batch_has_no_rows() -> None:
    assert all_rows({"value": pa.array([], pa.binary())}) == []
