"""Filters of a query that make the ranges smaller, so that less is read.

What topic, partition and offset say is exact: Spark need not look again. A lower bound of time is
of use even where the reader looks at no record's time: a log tells the *first* offset of that time
or later, and everything before it is older, in whatever order times lie behind it. For the same
reason times give no upper bound then: an old record may follow a young one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from interfaces.spark.query.ranges import Place

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
#: Not so the time: damaged batches of a store have none.
_NEVER_NULL = ("topic", "partition", "offset")
_TYPES = {"topic": str, "partition": int, "offset": int, "timestamp": datetime}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_US_PER_MS = 1000


@dataclass
class Span:
    """Whole numbers from `low` to `high`, both included; None: without an end."""

    low: int | None = None
    high: int | None = None

    def narrow(self, kind: str, values: list[int]) -> None:
        """To where `values` lie, or to one side of them."""
        if kind not in ("LessThan", "LessThanOrEqual"):
            low = min(values) + (kind == "GreaterThan")
            self.low = low if self.low is None else max(self.low, low)
        if kind not in ("GreaterThan", "GreaterThanOrEqual"):
            high = max(values) - (kind == "LessThan")
            self.high = high if self.high is None else min(self.high, high)


@dataclass
class Pushed:
    """What is known of the rows that are wanted; `take` adds to it."""

    #: The reader leaves out what is older than `since_ms` or younger than `until_ms`.
    exact_times: bool
    of_places: list[Filter] = field(default_factory=list)
    offsets: Span = field(default_factory=Span)
    microseconds: Span = field(default_factory=Span)
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
        if column in ("topic", "partition"):
            self.of_places.append(wanted)
            return True
        if negated:
            return False
        if column == "offset":
            self.offsets.narrow(kind, values)
            return kind != "In" or max(values) - min(values) + 1 == len(set(values))
        if column == "timestamp":
            self.microseconds.narrow(kind, [(one - _EPOCH) // _MICROSECOND for one in values])
            return self.exact_times and kind != "In"
        return False

    def wants(self, place: Place) -> bool:
        return not self.nothing and all(_holds(wanted, place) for wanted in self.of_places)

    def start(self, start: int) -> int:
        low = self.offsets.low
        return start if low is None else max(start, low)

    def end(self, end: int) -> int:
        high = self.offsets.high
        return end if high is None else min(end, high + 1)

    @property
    def since_ms(self) -> int | None:
        low = self.microseconds.low
        return None if low is None else -(-low // _US_PER_MS)

    @property
    def until_ms(self) -> int | None:
        """Included."""
        high = self.microseconds.high
        return None if high is None else high // _US_PER_MS


def taken(filters: Iterable[Filter], exact_times: bool) -> tuple[Pushed, list[Filter]]:
    """And those that Spark must hold against the rows itself."""
    pushed = Pushed(exact_times)
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
