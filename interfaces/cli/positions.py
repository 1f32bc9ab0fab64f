"""Positions in a log as people say them: start, end, 47, +2, -3, @TIMESTAMP; 47:50 is a part."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from interfaces.cli.failures import CommandFailed, NotUnderstood
from interfaces.cli.moments import milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from confluent_kafka.admin import AdminClient

    from interfaces.cli.client import Clients

START, END, OFFSET, PLUS, MINUS, TIME = "start", "end", "offset", "plus", "minus", "time"

_NUMBER = re.compile(r"([+-]?)(\d{1,18})")
_NAMES = {"start": START, "earliest": START, "beginning": START, "end": END, "latest": END}
_SAYS = "start, end, 47, +2, -3 or @TIMESTAMP"

#: Topic and partition.
Place = tuple[str, int]


class Position(NamedTuple):
    kind: str
    value: int = 0


class Bounds(NamedTuple):
    """Where a partition begins and ends, and the first offset at a moment, where one was asked."""

    start: int
    end: int
    at: int | None = None


def position(text: str, now_ms: int | None = None) -> Position:
    if text in _NAMES:
        return Position(_NAMES[text])
    if text.startswith("@"):
        now = int(time.time() * 1000) if now_ms is None else now_ms
        try:
            return Position(TIME, milliseconds(text[1:], now))
        except ValueError as wrong:
            raise NotUnderstood(str(wrong)) from None
    if number := _NUMBER.fullmatch(text):
        kind = {"": OFFSET, "+": PLUS, "-": MINUS}[number[1]]
        return Position(kind, int(number[2]))
    raise NotUnderstood(f"{text!r} is no position: {_SAYS}")


def part(text: str, now_ms: int | None = None) -> tuple[Position, Position | None]:
    """From where, and before what. A moment may have colons of its own."""
    if text.startswith("@"):
        first, colon, rest = re.sub(r":(?=@|end$)", "\0", text, count=1).partition("\0")
    else:
        first, colon, rest = text.partition(":")
    return (
        position(first or "start", now_ms),
        position(rest or "end", now_ms) if colon else None,
    )


def resolved(wanted: Position, bounds: Bounds, current: int | None = None) -> int:
    """The offset, within what there is; `current` is what +2 and -3 count from, where there is one.

    Otherwise +2 counts from the start and -3 from the end.
    """
    if wanted.kind == START:
        offset = bounds.start
    elif wanted.kind == OFFSET:
        offset = wanted.value
    elif wanted.kind == PLUS:
        offset = (bounds.start if current is None else current) + wanted.value
    elif wanted.kind == MINUS:
        offset = (bounds.end if current is None else current) - wanted.value
    elif wanted.kind == TIME and bounds.at is not None:
        offset = bounds.at
    else:
        offset = bounds.end
    return max(bounds.start, min(offset, bounds.end))


def bounds_of(
    clients: Clients, admin: AdminClient, places: Iterable[Place], *moments: Position | None
) -> list[dict[Place, Bounds]]:
    """The bounds of each partition, once for every moment, and once without if there is none."""
    from confluent_kafka.admin import OffsetSpec

    # Without types of its own.
    spec: Any = OffsetSpec
    asked = list(places)
    starts = _listed(clients, admin, asked, spec.earliest())
    ends = _listed(clients, admin, asked, spec.latest())
    found = []
    for moment in moments or (None,):
        at: Mapping[Place, int] = {}
        if moment is not None and moment.kind == TIME:
            at = _listed(clients, admin, asked, spec.for_timestamp(moment.value))
        found.append(
            {
                place: Bounds(
                    starts[place],
                    ends[place],
                    # Nothing as late as that: what comes next is.
                    at[place] if at.get(place, -1) >= 0 else None,
                )
                for place in asked
            }
        )
    return found


def _listed(
    clients: Clients, admin: AdminClient, places: list[Place], spec: Any
) -> dict[Place, int]:
    from confluent_kafka import TopicPartition

    if not places:
        return {}
    futures = admin.list_offsets(
        {TopicPartition(*place): spec for place in places}, request_timeout=clients.timeout_s
    )
    found: dict[Place, int] = {}
    for asked, future in futures.items():
        name = f"{asked.topic}-{asked.partition}"
        result = clients.result(f"the offsets of {name}", future, admin)
        found[asked.topic, asked.partition] = result.offset
    if len(found) < len(places):
        raise CommandFailed("the broker did not tell all offsets")
    return found


def chosen(
    clients: Clients, client: object, topic: str, wanted: tuple[int, ...] | None
) -> list[Place]:
    """The partitions of a topic that were asked for, or all."""
    there = clients.partitions(client, topic)
    if wanted is None:
        return [(topic, number) for number in there]
    if missing := sorted(set(wanted) - set(there)):
        raise CommandFailed(f"{topic} has no partition {', '.join(map(str, missing))}")
    return [(topic, number) for number in wanted]
