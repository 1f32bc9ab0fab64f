"""What a query asks of topic, partition, offset and timestamp, taken out of Spark's filters.

Spark does not look again at what is taken, so it has to hold exactly; what is only of use is kept,
and given back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_US_PER_MS = 1000

#: By the names of Spark's classes, which need not be there to be told apart.
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "EqualTo": lambda left, right: bool(left == right),
    "EqualNullSafe": lambda left, right: bool(left == right),
    "GreaterThan": lambda left, right: bool(left > right),
    "GreaterThanOrEqual": lambda left, right: bool(left >= right),
    "LessThan": lambda left, right: bool(left < right),
    "LessThanOrEqual": lambda left, right: bool(left <= right),
    "In": lambda left, right: left in right,
}
#: Not so the time: damaged batches have none.
_NEVER_NULL = {"topic", "partition", "offset"}


class Span:
    """Whole numbers from `low` to `high`, both included; None: without an end."""

    __slots__ = ("high", "low")

    def __init__(self) -> None:
        self.low: int | None = None
        self.high: int | None = None

    def narrow(self, kind: str, value: int) -> None:
        if kind in ("EqualTo", "EqualNullSafe", "GreaterThan", "GreaterThanOrEqual"):
            low = value + (kind == "GreaterThan")
            self.low = low if self.low is None else max(self.low, low)
        if kind in ("EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual"):
            high = value - (kind == "LessThan")
            self.high = high if self.high is None else min(self.high, high)


class Conditions:
    def __init__(self) -> None:
        self.offsets = Span()
        self._microseconds = Span()
        self._of_places: list[tuple[str, str, Any]] = []

    def take(self, filters: Iterable[Any]) -> list[Any]:
        """Those that are left to Spark."""
        return [each for each in filters if not self._takes(each)]

    def fits(self, topic: str, partition: int) -> bool:
        found = {"topic": topic, "partition": partition}
        return all(_COMPARED[kind](found[name], value) for name, kind, value in self._of_places)

    def narrow(self, start: int, end: int) -> tuple[int, int]:
        low, high = self.offsets.low, self.offsets.high
        start = start if low is None else max(start, low)
        end = end if high is None else min(end, high + 1)
        return start, max(start, end)

    @property
    def since_ms(self) -> int | None:
        low = self._microseconds.low
        return None if low is None else -(-low // _US_PER_MS)

    @property
    def until_ms(self) -> int | None:
        """Included."""
        high = self._microseconds.high
        return None if high is None else high // _US_PER_MS

    def _takes(self, each: Any) -> bool:
        kind = type(each).__name__
        path: tuple[str, ...] = getattr(each, "attribute", ())
        if len(path) != 1:
            return False
        name = path[0]
        if kind == "IsNotNull":
            return name in _NEVER_NULL
        if kind not in _COMPARED:
            return False
        if kind == "In":
            return self._takes_one_of(name, tuple(each.value))
        return self._takes_value(name, kind, each.value)

    def _takes_value(self, name: str, kind: str, value: Any) -> bool:
        if name in ("topic", "partition"):
            if type(value) is not (str if name == "topic" else int):
                return False
            self._of_places.append((name, kind, value))
            return True
        number = _number(name, value)
        if number is None:
            return False
        (self.offsets if name == "offset" else self._microseconds).narrow(kind, number)
        return True

    def _takes_one_of(self, name: str, values: tuple[Any, ...]) -> bool:
        if name in ("topic", "partition"):
            wanted = str if name == "topic" else int
            known = tuple(value for value in values if type(value) is wanted)
            if len(known) < len(values):  # a null among them
                return False
            self._of_places.append((name, "In", known))
            return True
        numbers = [number for value in values if (number := _number(name, value)) is not None]
        if numbers and len(numbers) == len(values):
            span = self.offsets if name == "offset" else self._microseconds
            span.narrow("GreaterThanOrEqual", min(numbers))
            span.narrow("LessThanOrEqual", max(numbers))
        return False  # what lies between them is Spark's to judge


def _number(name: str, value: Any) -> int | None:
    if name == "offset" and type(value) is int:
        return value
    if name == "timestamp" and isinstance(value, datetime) and value.tzinfo is not None:
        return (value - _EPOCH) // _MICROSECOND
    return None
