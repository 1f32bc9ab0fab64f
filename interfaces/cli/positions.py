"""Positions in a log: start, end, 47, +2, -3, @TIMESTAMP; 47:50 is a range."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.moments import milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from confluent_kafka.admin import AdminClient

    from interfaces.cli.client import Clients

START, END, OFFSET, PLUS, MINUS, TIME = "start", "end", "offset", "plus", "minus", "time"

_NUMBER = re.compile(r"([+-]?)(\d{1,18})")
_NAMES = {"start": START, "earliest": START, "beginning": START, "end": END, "latest": END}
_EXPECTED = "start, end, 47, +2, -3 or @TIMESTAMP"

#: Topic and partition.
Place = tuple[str, int]


class Position(NamedTuple):
    kind: str
    value: int = 0


class Bounds(NamedTuple):
    """The start and end of a partition, and the offset of a timestamp if requested."""

    start: int
    end: int
    at: int | None = None
    #: Of the leader; None: it does not respond with one.
    leader_epoch: int | None = None


def position(text: str, now_ms: int | None = None) -> Position:
    if text in _NAMES:
        return Position(_NAMES[text])
    if text.startswith("@"):
        now = int(time.time() * 1000) if now_ms is None else now_ms
        try:
            return Position(TIME, milliseconds(text[1:], now))
        except ValueError as wrong:
            raise UsageError(str(wrong)) from None
    if number := _NUMBER.fullmatch(text):
        kind = {"": OFFSET, "+": PLUS, "-": MINUS}[number[1]]
        return Position(kind, int(number[2]))
    raise UsageError(f"invalid position {text!r}: expected {_EXPECTED}")


def range_of(text: str, now_ms: int | None = None) -> tuple[Position, Position | None]:
    """The first offset and the one after the last. A timestamp may contain colons."""
    if text.startswith("@"):
        first, colon, rest = re.sub(r":(?=@|end$)", "\0", text, count=1).partition("\0")
    else:
        first, colon, rest = text.partition(":")
    return (
        position(first or "start", now_ms),
        position(rest or "end", now_ms) if colon else None,
    )


def resolved(target: Position, bounds: Bounds, current: int | None = None) -> int:
    """The offset, within the log. +2 and -3 count from `current`, or from the start and the end."""
    if target.kind == START:
        offset = bounds.start
    elif target.kind == OFFSET:
        offset = target.value
    elif target.kind == PLUS:
        offset = (bounds.start if current is None else current) + target.value
    elif target.kind == MINUS:
        offset = (bounds.end if current is None else current) - target.value
    elif target.kind == TIME and bounds.at is not None:
        offset = bounds.at
    else:
        offset = bounds.end
    return max(bounds.start, min(offset, bounds.end))


def bounds_of(
    clients: Clients, admin: AdminClient, places: Iterable[Place], *moments: Position | None
) -> list[dict[Place, Bounds]]:
    """The bounds of all partitions, for every timestamp, or once without any."""
    from confluent_kafka.admin import OffsetSpec

    # It has no type stubs.
    spec: Any = OffsetSpec
    listed = list(places)
    starts = _listed(clients, admin, listed, spec.earliest())
    ends = _results(clients, admin, listed, spec.latest())
    found = []
    for moment in moments or (None,):
        at: Mapping[Place, int] = {}
        if moment is not None and moment.kind == TIME:
            at = _listed(clients, admin, listed, spec.for_timestamp(moment.value))
        found.append(
            {
                place: Bounds(
                    starts[place],
                    ends[place].offset,
                    # -1: no record is that new.
                    at[place] if at.get(place, -1) >= 0 else None,
                    ends[place].leader_epoch,
                )
                for place in listed
            }
        )
    return found


def oldest_timestamp(clients: Clients, admin: AdminClient, places: list[Place]) -> int | None:
    """Of the first records with a timestamp; None without any."""
    from confluent_kafka.admin import OffsetSpec

    spec: Any = OffsetSpec  # it has no type stubs
    found = _results(clients, admin, places, spec.for_timestamp(0)).values()
    return min((one.timestamp for one in found if one.timestamp >= 0), default=None)


def _listed(
    clients: Clients, admin: AdminClient, places: list[Place], spec: Any
) -> dict[Place, int]:
    results = _results(clients, admin, places, spec)
    return {place: result.offset for place, result in results.items()}


def _results(
    clients: Clients, admin: AdminClient, places: list[Place], spec: Any
) -> dict[Place, Any]:
    from confluent_kafka import TopicPartition

    if not places:
        return {}
    futures = admin.list_offsets(
        {TopicPartition(*place): spec for place in places}, request_timeout=clients.timeout_s
    )
    found: dict[Place, Any] = {}
    for place, future in futures.items():
        name = f"{place.topic}-{place.partition}"
        result = clients.result(f"the offsets of {name}", future, admin)
        found[place.topic, place.partition] = result
    if len(found) < len(places):
        raise CommandFailed("the response of the broker lacks offsets")
    return found


def chosen(
    clients: Clients, client: object, topic: str, numbers: tuple[int, ...] | None
) -> list[Place]:
    """The given partitions of a topic, or all. Raises CommandFailed if one does not exist."""
    existing = clients.partitions(client, topic)
    if numbers is None:
        return [(topic, number) for number in existing]
    if missing := sorted(set(numbers) - set(existing)):
        raise CommandFailed(f"{topic} has no partition {', '.join(map(str, missing))}")
    return [(topic, number) for number in numbers]
