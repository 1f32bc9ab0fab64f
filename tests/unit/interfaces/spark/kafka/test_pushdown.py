"""Filters that narrow ranges: what is read with them is what would be left without them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as some

from interfaces.spark.kafka.pushdown import Pushed, taken
from interfaces.spark.kafka.ranges import Place

spark = pytest.importorskip("pyspark.sql.datasource", reason="its filters are Spark's")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Row(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp: datetime


def at(ms: float) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


times = some.integers(-3, 8).map(at) | some.integers(-2000, 6000).map(lambda us: at(us / 1000))
values = {
    "topic": some.sampled_from(["a", "b", "ab"]),
    "partition": some.integers(-1, 2),
    "offset": some.integers(-1, 9),
    "timestamp": times,
}
COMPARISONS = (
    "EqualTo",
    "EqualNullSafe",
    "GreaterThan",
    "GreaterThanOrEqual",
    "LessThan",
    "LessThanOrEqual",
)


def filters_of(column: str) -> Any:
    compared = [
        some.builds(getattr(spark, name), some.just((column,)), values[column])
        for name in COMPARISONS
    ]
    listed = some.lists(values[column], max_size=4).map(tuple)
    more = [
        some.builds(spark.In, some.just((column,)), listed),
        some.builds(spark.IsNotNull, some.just((column,))),
        some.builds(spark.IsNull, some.just((column,))),
    ]
    if column == "topic":
        for name in ("StringStartsWith", "StringEndsWith", "StringContains"):
            more.append(some.builds(getattr(spark, name), some.just((column,)), values[column]))
    return some.one_of(*compared, *more)


any_filter = some.sampled_from(sorted(values)).flatmap(filters_of)
any_filter = any_filter | any_filter.map(spark.Not)
logs = some.dictionaries(
    some.sampled_from([Place("a", 0), Place("a", 1), Place("ab", 0)]),
    some.lists(some.integers(-2, 7), max_size=8),
)


def holds(wanted: Any, row: Row) -> bool:
    """As Spark would say; written apart from what is tested."""
    kind = type(wanted).__name__
    if kind == "Not":
        return not holds(wanted.child, row)
    found: Any = getattr(row, wanted.attribute[0])
    if kind in ("IsNull", "IsNotNull"):
        return kind == "IsNotNull"
    if kind == "In":
        return found in wanted.value
    return {
        "EqualTo": lambda: found == wanted.value,
        "EqualNullSafe": lambda: found == wanted.value,
        "GreaterThan": lambda: found > wanted.value,
        "GreaterThanOrEqual": lambda: found >= wanted.value,
        "LessThan": lambda: found < wanted.value,
        "LessThanOrEqual": lambda: found <= wanted.value,
        "StringStartsWith": lambda: found.startswith(wanted.value),
        "StringEndsWith": lambda: found.endswith(wanted.value),
        "StringContains": lambda: wanted.value in found,
    }[kind]()


def read(pushed: Pushed, place: Place, times_ms: list[int]) -> list[Row]:
    """As a reader does it, from a broker that tells the first offset since a time."""
    if not pushed.wants(place):
        return []
    start = 0
    if pushed.since_ms is not None:
        late = [offset for offset, ms in enumerate(times_ms) if ms >= pushed.since_ms]
        start = late[0] if late else len(times_ms)
    first, end = pushed.start(start), pushed.end(len(times_ms))
    return [Row(*place, offset, at(times_ms[offset])) for offset in range(first, end)]


@given(logs, some.lists(any_filter, max_size=4))
def test_pushed_filters_give_the_same_rows(log: dict[Place, list[int]], filters: list[Any]) -> None:
    everything = [
        Row(*place, offset, at(ms))
        for place, times_ms in log.items()
        for offset, ms in enumerate(times_ms)
    ]
    wanted = [row for row in everything if all(holds(one, row) for one in filters)]

    pushed, rest = taken(filters)
    fetched = [row for place, times_ms in log.items() for row in read(pushed, place, times_ms)]
    assert [row for row in fetched if all(holds(one, row) for one in rest)] == wanted


def test_offsets_and_places_are_not_looked_at_again_and_times_are() -> None:
    exact = [
        spark.EqualTo(("partition",), 1),
        spark.In(("topic",), ("a", "b")),
        spark.GreaterThan(("offset",), 4),
        spark.LessThanOrEqual(("offset",), 8),
        spark.IsNotNull(("timestamp",)),
    ]
    timed = spark.GreaterThan(("timestamp",), at(1.0))
    pushed, rest = taken([*exact, timed])
    assert rest == [timed]
    assert (pushed.first_offset, pushed.end_offset, pushed.since_ms) == (5, 9, 2)
    assert pushed.wants(Place("a", 1))
    assert not pushed.wants(Place("c", 1))


@pytest.mark.parametrize(
    "other",
    [
        ("EqualTo", ("value",), b"x"),
        ("EqualTo", ("partition",), None),
        ("EqualTo", ("partition",), True),
        ("In", ("partition",), (1, None)),
        ("GreaterThan", ("timestamp",), datetime(2020, 1, 1)),
        ("EqualTo", ("headers", "key"), "x"),
    ],
)
def test_what_is_not_understood_is_left_to_spark(other: tuple[str, tuple[str, ...], Any]) -> None:
    kind, column, value = other
    wanted = getattr(spark, kind)(column, value)
    assert taken([wanted]) == (Pushed(), [wanted])


def test_no_time_is_an_upper_bound() -> None:
    pushed, rest = taken([spark.LessThan(("timestamp",), at(5))])
    assert pushed == Pushed()
    assert len(rest) == 1
