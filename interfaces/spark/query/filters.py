"""Pushed-down filters narrow the ranges of a query.

Filters on topic, partition and offset are exact: Spark does not evaluate them again. A lower bound
of the timestamp narrows a range too: ListOffsets returns the first offset with that timestamp or a
later one, and all records before it are older. An upper bound does not, as timestamps need not
increase.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from interfaces.spark.query.ranges import Place

#: Of pyspark.sql.datasource, recognised by class name: this module does not import Spark.
Filter: TypeAlias = Any

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "EqualTo": operator.eq,
    "EqualNullSafe": operator.eq,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
    "In": lambda found, values: found in values,
    "StringStartsWith": str.startswith,
    "StringEndsWith": str.endswith,
    "StringContains": operator.contains,
}
#: The timestamp is null for damaged batches of `ottla-segments`.
_NEVER_NULL = ("topic", "partition", "offset")
_TYPES = {"topic": str, "partition": int, "offset": int, "timestamp": datetime}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_US_PER_MS = 1000


@dataclass
class Span:
    """Integers from `low` to `high`, inclusive; None: unbounded."""

    low: int | None = None
    high: int | None = None

    def narrow(self, kind: str, values: list[int]) -> None:
        """Narrows to the range of `values`, or to one side of it."""
        if kind not in ("LessThan", "LessThanOrEqual"):
            low = min(values) + (kind == "GreaterThan")
            self.low = low if self.low is None else max(self.low, low)
        if kind not in ("GreaterThan", "GreaterThanOrEqual"):
            high = max(values) - (kind == "LessThan")
            self.high = high if self.high is None else min(self.high, high)


@dataclass
class Pushed:
    """What the filters of a query require; `take` adds a filter."""

    #: The reader drops records outside of `since_ms` and `until_ms`.
    exact_times: bool
    of_places: list[Filter] = field(default_factory=list)
    offsets: Span = field(default_factory=Span)
    microseconds: Span = field(default_factory=Span)
    nothing: bool = False

    def take(self, one: Filter) -> bool:
        """True if Spark need not evaluate the filter again."""
        kind, inner, negated = _opened(one)
        column = _column(inner)
        if kind in ("IsNotNull", "IsNull") and column in _NEVER_NULL:
            self.nothing |= (kind == "IsNull") != negated
            return True
        values = _values(inner, column)
        if kind not in _COMPARED or not values:
            return False
        if column in ("topic", "partition"):
            self.of_places.append(one)
            return True
        if negated:
            return False
        if column == "offset":
            self.offsets.narrow(kind, values)
            return kind != "In" or max(values) - min(values) + 1 == len(set(values))
        if column == "timestamp":
            self.microseconds.narrow(kind, [(time - _EPOCH) // _MICROSECOND for time in values])
            return self.exact_times and kind != "In"
        return False

    def wants(self, place: Place) -> bool:
        return not self.nothing and all(_holds(one, place) for one in self.of_places)

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
        """Inclusive."""
        high = self.microseconds.high
        return None if high is None else high // _US_PER_MS


def taken(filters: Iterable[Filter], exact_times: bool) -> tuple[Pushed, list[Filter]]:
    """Also returns the filters that Spark must evaluate itself."""
    pushed = Pushed(exact_times)
    return pushed, [one for one in filters if not pushed.take(one)]


def _opened(one: Filter) -> tuple[str, Filter, bool]:
    negated = False
    while type(one).__name__ == "Not":
        one, negated = one.child, not negated
    return type(one).__name__, one, negated


def _column(inner: Filter) -> str:
    path: tuple[str, ...] = getattr(inner, "attribute", ())
    return ".".join(path)


def _values(inner: Filter, column: str) -> list[Any]:
    """The values it compares with; none if their type is unexpected."""
    value: Any = getattr(inner, "value", None)
    values: list[Any] = list(value) if type(inner).__name__ == "In" else [value]
    kind = _TYPES.get(column)
    if kind is None or not all(isinstance(v, kind) and not isinstance(v, bool) for v in values):
        return []
    if kind is datetime and any(moment.tzinfo is None for moment in values):
        return []
    return values


def _holds(one: Filter, place: Place) -> bool:
    kind, inner, negated = _opened(one)
    facts: Mapping[str, Any] = place._asdict()
    return _COMPARED[kind](facts[_column(inner)], inner.value) != negated
