"""What is taken of a query's filters: only what Spark need not look at again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from interfaces.spark.segments.conditions import Conditions


@dataclass(frozen=True)
class Compared:
    attribute: tuple[str, ...]
    value: Any


class EqualTo(Compared): ...


class GreaterThan(Compared): ...


class GreaterThanOrEqual(Compared): ...


class LessThan(Compared): ...


class LessThanOrEqual(Compared): ...


class In(Compared): ...


class StringStartsWith(Compared): ...


@dataclass(frozen=True)
class IsNotNull:
    attribute: tuple[str, ...]


@dataclass(frozen=True)
class Not:
    child: Any


def at(microseconds: int) -> datetime:
    return datetime.fromtimestamp(0, UTC).replace(microsecond=microseconds)


def test_partitions_and_topics_are_compared_as_the_query_does() -> None:
    conditions = Conditions()
    taken = [
        EqualTo(("topic",), "a"),
        GreaterThan(("partition",), 0),
        In(("partition",), (1, 2, 9)),
        IsNotNull(("partition",)),
    ]
    assert conditions.take(taken) == []
    assert [number for number in range(10) if conditions.fits("a", number)] == [1, 2, 9]
    assert not conditions.fits("b", 1)


def test_offsets_narrow_a_range() -> None:
    conditions = Conditions()
    assert conditions.narrow(3, 90) == (3, 90)
    assert conditions.take([GreaterThanOrEqual(("offset",), 10), LessThan(("offset",), 50)]) == []
    assert conditions.narrow(3, 90) == (10, 50)
    assert conditions.narrow(20, 30) == (20, 30)
    conditions.take([GreaterThan(("offset",), 10), LessThanOrEqual(("offset",), 12)])
    assert conditions.narrow(3, 90) == (11, 13)
    conditions.take([EqualTo(("offset",), 12)])
    assert conditions.narrow(3, 90) == (12, 13)
    conditions.take([EqualTo(("offset",), 40)])
    start, end = conditions.narrow(3, 90)
    assert start == end


def test_one_of_several_offsets_is_narrowed_and_left_to_spark() -> None:
    conditions = Conditions()
    several = In(("offset",), (30, 10, 20))
    assert conditions.take([several]) == [several]
    assert conditions.narrow(0, 90) == (10, 31)


def test_times_are_whole_milliseconds_that_fit() -> None:
    assert (Conditions().since_ms, Conditions().until_ms) == (None, None)
    conditions = Conditions()
    assert conditions.take([GreaterThanOrEqual(("timestamp",), at(5000))]) == []
    assert conditions.since_ms == 5
    conditions.take([GreaterThan(("timestamp",), at(5000))])
    assert conditions.since_ms == 6
    conditions.take([LessThan(("timestamp",), at(9000))])
    assert conditions.until_ms == 8
    conditions.take([LessThanOrEqual(("timestamp",), at(7500))])
    assert conditions.until_ms == 7
    conditions.take([EqualTo(("timestamp",), at(6500))])  # no record has half a millisecond
    assert conditions.since_ms is not None
    assert conditions.until_ms is not None
    assert conditions.since_ms > conditions.until_ms


@pytest.mark.parametrize(
    "left",
    [
        EqualTo(("key",), b"k"),
        EqualTo(("headers", "key"), "k"),
        IsNotNull(("value",)),
        IsNotNull(("timestamp",)),
        EqualTo(("partition",), None),
        EqualTo(("offset",), 1.5),
        EqualTo(("topic",), 3),
        In(("partition",), (1, None)),
        GreaterThan(("timestamp",), datetime(2026, 1, 1)),
        StringStartsWith(("topic",), "a"),
        Not(EqualTo(("partition",), 1)),
    ],
)
def test_all_else_is_left_to_spark(left: Any) -> None:
    conditions = Conditions()
    assert conditions.take([left]) == [left]
    assert conditions.fits("any", 5)
    assert conditions.narrow(0, 9) == (0, 9)
    assert (conditions.since_ms, conditions.until_ms) == (None, None)
