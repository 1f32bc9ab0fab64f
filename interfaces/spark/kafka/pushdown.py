"""Filters of a query that make the ranges smaller, so that less is fetched.

What topic, partition and offset say is exact: Spark need not look again. A lower bound of time is
exact too, as a broker tells the *first* offset of that time or later: everything before it is
older, in whatever order times lie behind it. For the same reason times give no upper bound: an old
record may follow a young one. And Spark looks at all rows again, as those behind may be older.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from interfaces.spark.kafka.ranges import Place

#: Of pyspark.sql.datasource; its classes are told by their names, so that nothing here needs Spark.
Filter: TypeAlias = Any

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "EqualTo": operator.eq,
    "EqualNullSafe": operator.eq,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
    "In": lambda found, wanted: found in wanted,
    "StringStartsWith": str.startswith,
    "StringEndsWith": str.endswith,
    "StringContains": operator.contains,
}
_NEVER_NULL = ("topic", "partition", "offset", "timestamp", "timestampType")
_TYPES = {"topic": str, "partition": int, "offset": int, "timestamp": datetime}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_LAST_OFFSET = 2**63 - 1


@dataclass
class Pushed:
    """What is known of the rows that are wanted; `take` adds to it."""

    of_places: list[Filter] = field(default_factory=list)
    first_offset: int = 0
    end_offset: int = _LAST_OFFSET
    #: In milliseconds; None: any time, or one that a broker cannot be asked for.
    since_ms: int | None = None
    nothing: bool = False

    def take(self, wanted: Filter) -> bool:
        """True: no row that it does not want will be read, so nobody need look again."""
        kind, inner, negated = _opened(wanted)
        column = _column(inner)
        if kind in ("IsNotNull", "IsNull") and column in _NEVER_NULL:
            self.nothing |= (kind == "IsNull") != negated
            return True
        values = _values(inner, column)
        if kind not in _COMPARED or not values:
            return False
        if column == "topic" or (column == "partition" and not kind.startswith("String")):
            self.of_places.append(wanted)
            return True
        if column == "offset" and not negated:
            return self._take_offsets(kind, values)
        if column == "timestamp" and not negated:
            self._take_time(kind, values)
        return False

    def _take_offsets(self, kind: str, values: list[int]) -> bool:
        low, high = min(values), max(values)
        if kind in ("EqualTo", "EqualNullSafe", "In", "GreaterThanOrEqual", "GreaterThan"):
            self.first_offset = max(self.first_offset, low + (kind == "GreaterThan"))
        if kind in ("EqualTo", "EqualNullSafe", "In", "LessThanOrEqual"):
            self.end_offset = min(self.end_offset, high + 1)
        if kind == "LessThan":
            self.end_offset = min(self.end_offset, high)
        return kind != "In" or high - low + 1 == len(set(values))

    def _take_time(self, kind: str, values: list[datetime]) -> None:
        if kind in ("LessThan", "LessThanOrEqual"):
            return
        past = (min(values) - _EPOCH) // _MILLISECOND  # rounded down, also before 1970
        is_whole = _EPOCH + past * _MILLISECOND == min(values)
        first = past if is_whole and kind != "GreaterThan" else past + 1
        if first > 0:  # a broker takes negative numbers for something else
            self.since_ms = first if self.since_ms is None else max(self.since_ms, first)

    def wants(self, place: Place) -> bool:
        return not self.nothing and all(_holds(wanted, place) for wanted in self.of_places)

    def start(self, start: int) -> int:
        return max(start, self.first_offset)

    def end(self, end: int) -> int:
        return min(end, self.end_offset)


def taken(filters: Iterable[Filter]) -> tuple[Pushed, list[Filter]]:
    """And those that Spark must hold against the rows itself."""
    pushed = Pushed()
    return pushed, [wanted for wanted in filters if not pushed.take(wanted)]


def _opened(wanted: Filter) -> tuple[str, Filter, bool]:
    negated = False
    while type(wanted).__name__ == "Not":
        wanted, negated = wanted.child, not negated
    return type(wanted).__name__, wanted, negated


def _column(inner: Filter) -> str:
    path: tuple[str, ...] = getattr(inner, "attribute", ())
    return ".".join(path)


def _values(inner: Filter, column: str) -> list[Any]:
    """What it compares with; none, where nothing can be made of it."""
    value: Any = getattr(inner, "value", None)
    values: list[Any] = list(value) if type(inner).__name__ == "In" else [value]
    kind = _TYPES.get(column)
    if kind is None or not all(isinstance(v, kind) and not isinstance(v, bool) for v in values):
        return []
    if kind is datetime and any(moment.tzinfo is None for moment in values):
        return []
    return values


def _holds(wanted: Filter, place: Place) -> bool:
    kind, inner, negated = _opened(wanted)
    facts: Mapping[str, Any] = place._asdict()
    return _COMPARED[kind](facts[_column(inner)], inner.value) != negated
