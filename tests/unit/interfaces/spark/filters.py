"""Filters as Spark hands them on, for where it is not there; a test holds them against its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def at(ms: float) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


@dataclass(frozen=True)
class Compared:
    attribute: tuple[str, ...]
    value: Any


class EqualTo(Compared): ...


class EqualNullSafe(Compared): ...


class GreaterThan(Compared): ...


class GreaterThanOrEqual(Compared): ...


class LessThan(Compared): ...


class LessThanOrEqual(Compared): ...


class In(Compared): ...


class StringStartsWith(Compared): ...


class StringEndsWith(Compared): ...


class StringContains(Compared): ...


@dataclass(frozen=True)
class Looked:
    attribute: tuple[str, ...]


class IsNull(Looked): ...


class IsNotNull(Looked): ...


@dataclass(frozen=True)
class Not:
    child: Any


COMPARISONS = (EqualTo, EqualNullSafe, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual)
OF_TEXT = (StringStartsWith, StringEndsWith, StringContains)
ALL = (*COMPARISONS, *OF_TEXT, In, IsNull, IsNotNull, Not)
