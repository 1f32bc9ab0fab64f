"""Pushed-down filters give the same rows as filters in Spark."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as some

from interfaces.spark.query.filters import Pushed, taken
from interfaces.spark.query.ranges import Place

pytest.importorskip("pyspark", reason="filters are Spark's")

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringContains,
    StringEndsWith,
    StringStartsWith,
)

COMPARISONS = (EqualTo, EqualNullSafe, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual)
OF_TEXT = (StringStartsWith, StringEndsWith, StringContains)


def at(ms: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)


class Row(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp: datetime


times = some.integers(-3, 8).map(at) | some.integers(-2000, 6000).map(lambda us: at(us / 1000))
values = {
    "topic": some.sampled_from(["a", "b", "ab"]),
    "partition": some.integers(-1, 2),
    "offset": some.integers(-1, 9),
    "timestamp": times,
}


def filters_of(column: str) -> Any:
    kinds = (*COMPARISONS, *OF_TEXT) if column == "topic" else COMPARISONS
    listed = some.lists(values[column], max_size=4).map(tuple)
    return some.one_of(
        *(some.builds(kind, some.just((column,)), values[column]) for kind in kinds),
        some.builds(In, some.just((column,)), listed),
        some.builds(IsNotNull, some.just((column,))),
        some.builds(IsNull, some.just((column,))),
    )


any_filter = some.sampled_from(sorted(values)).flatmap(filters_of)
any_filter = any_filter | any_filter.map(Not)
logs = some.dictionaries(
    some.sampled_from([Place("a", 0), Place("a", 1), Place("ab", 0)]),
    some.lists(some.integers(-2, 7), max_size=8),
)


def holds(condition: Any, row: Row) -> bool:
    """Spark's result, implemented independently."""
    kind = type(condition).__name__
    if kind == "Not":
        return not holds(condition.child, row)
    found: Any = getattr(row, condition.attribute[0])
    if kind in ("IsNull", "IsNotNull"):
        return kind == "IsNotNull"
    if kind == "In":
        return found in condition.value
    return {
        "EqualTo": lambda: found == condition.value,
        "EqualNullSafe": lambda: found == condition.value,
        "GreaterThan": lambda: found > condition.value,
        "GreaterThanOrEqual": lambda: found >= condition.value,
        "LessThan": lambda: found < condition.value,
        "LessThanOrEqual": lambda: found <= condition.value,
        "StringStartsWith": lambda: found.startswith(condition.value),
        "StringEndsWith": lambda: found.endswith(condition.value),
        "StringContains": lambda: condition.value in found,
    }[kind]()


def read(pushed: Pushed, place: Place, times_ms: list[int]) -> list[Row]:
    """As a reader does it, which looks up the first offset with a timestamp or a later one."""
    if not pushed.wants(place):
        return []
    start = 0
    if pushed.since_ms is not None:
        late = [offset for offset, ms in enumerate(times_ms) if ms >= pushed.since_ms]
        start = late[0] if late else len(times_ms)
    first, end = pushed.start(start), pushed.end(len(times_ms))
    return [
        Row(*place, offset, at(times_ms[offset]))
        for offset in range(first, end)
        if not pushed.exact_times or fits(pushed, times_ms[offset])
    ]


def fits(pushed: Pushed, ms: int) -> bool:
    since_ms, until_ms = pushed.since_ms, pushed.until_ms
    return (since_ms is None or ms >= since_ms) and (until_ms is None or ms <= until_ms)


@given(logs, some.lists(any_filter, max_size=4), some.booleans())
def test_pushed_filters_give_the_same_rows(
    log: dict[Place, list[int]], filters: list[Any], exact_times: bool
) -> None:
    everything = [
        Row(*place, offset, at(ms))
        for place, times_ms in log.items()
        for offset, ms in enumerate(times_ms)
    ]
    expected = [row for row in everything if all(holds(one, row) for one in filters)]

    pushed, rest = taken(filters, exact_times)
    fetched = [row for place, times_ms in log.items() for row in read(pushed, place, times_ms)]
    assert [row for row in fetched if all(holds(one, row) for one in rest)] == expected


def test_only_filters_on_timestamps_may_be_left_to_spark() -> None:
    exact = [
        EqualTo(("partition",), 1),
        In(("topic",), ("a", "b")),
        IsNotNull(("offset",)),
        GreaterThan(("offset",), 4),
        LessThanOrEqual(("offset",), 8),
        Not(EqualTo(("partition",), 0)),
    ]
    timed = [GreaterThan(("timestamp",), at(1.0)), LessThan(("timestamp",), at(9.0))]
    for exact_times in (False, True):
        pushed, rest = taken([*exact, *timed], exact_times)
        assert rest == ([] if exact_times else timed)
        assert (pushed.start(0), pushed.end(99)) == (5, 9)
        assert (pushed.start(7), pushed.end(8)) == (7, 8)
        assert (pushed.since_ms, pushed.until_ms) == (2, 8)
        assert pushed.wants(Place("a", 1))
        assert not pushed.wants(Place("c", 1))


def test_times_are_whole_milliseconds_that_fit() -> None:
    since, _ = taken([GreaterThanOrEqual(("timestamp",), at(4.5))], True)
    assert (since.since_ms, since.until_ms) == (5, None)
    until, _ = taken([LessThanOrEqual(("timestamp",), at(7.5))], True)
    assert (until.since_ms, until.until_ms) == (None, 7)
    never, _ = taken([EqualTo(("timestamp",), at(6.5))], True)
    assert (never.since_ms, never.until_ms) == (7, 6)


@pytest.mark.parametrize("several", [In(("offset",), (30, 10)), In(("timestamp",), (at(9), at(2)))])
def test_the_gaps_between_several_values_are_left_to_spark(several: In) -> None:
    pushed, rest = taken([several], True)
    assert rest == [several]
    assert pushed != Pushed(True)


@pytest.mark.parametrize(
    "other",
    [
        EqualTo(("value",), b"x"),
        EqualTo(("partition",), None),
        EqualTo(("partition",), True),
        EqualTo(("offset",), 1.5),
        EqualTo(("topic",), 3),
        In(("partition",), (1, None)),
        GreaterThan(("timestamp",), datetime(2020, 1, 1)),
        EqualTo(("headers", "key"), "x"),
        IsNotNull(("value",)),
        IsNotNull(("timestamp",)),
        Not(EqualTo(("offset",), 1)),
    ],
)
def test_other_filters_are_left_to_spark(other: Any) -> None:
    assert taken([other], True) == (Pushed(True), [other])
