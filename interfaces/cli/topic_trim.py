"""`ottla topic trim`: the oldest records of partitions, deleted up to an offset."""

from __future__ import annotations

import argparse

from interfaces.cli.client import Clients, each_result
from interfaces.cli.failures import CommandFailed
from interfaces.cli.output import confirmed
from interfaces.cli.positions import (
    OFFSET,
    PLUS,
    Bounds,
    Position,
    bounds_of,
    chosen,
    position,
    resolved,
)
from interfaces.terminal.endings import complain


def trim(parsed: argparse.Namespace) -> int:
    from confluent_kafka import TopicPartition

    wanted = position(parsed.offset)
    clients = Clients(parsed)
    admin = clients.admin()
    places = chosen(clients, admin, parsed.name, parsed.partitions)
    [bounds] = bounds_of(clients, admin, places, wanted)
    for place in places:
        _check(f"partition {place[1]} of {parsed.name}", wanted, bounds[place])
    before = {place: resolved(wanted, bounds[place]) for place in places}
    count = sum(before[place] - bounds[place].start for place in places)
    if parsed.dry_run or not count:
        say = _say_dry if parsed.dry_run else _say
        for place in places:
            say(place[1], bounds[place].start, before[place])
        return 0
    if not confirmed(f"Delete {count} offsets' worth of records of {parsed.name}?", parsed.yes):
        raise CommandFailed("nothing is deleted")
    with clients.asking(f"the records of {parsed.name}", admin):
        futures = admin.delete_records(
            [TopicPartition(*place, before[place]) for place in places],
            request_timeout=clients.timeout_s,
        )
    failed = 0
    for place, outcome in each_result(clients, futures, lambda p: f"{p.topic}-{p.partition}"):
        if isinstance(outcome, CommandFailed):
            complain(str(outcome))
            failed = 1
        else:
            number = place.partition
            _say(number, bounds[parsed.name, number].start, outcome.low_watermark)
    return failed


def _check(name: str, wanted: Position, bounds: Bounds) -> None:
    """As the broker would: a slip of the finger shall not delete everything."""
    beyond = "nothing is deleted (-o end deletes all)"
    if wanted.kind == OFFSET and wanted.value > bounds.end:
        raise CommandFailed(f"{name} ends at {bounds.end}, before {wanted.value}: {beyond}")
    there = bounds.end - bounds.start
    if wanted.kind == PLUS and wanted.value > there:
        raise CommandFailed(f"{name} has {there} offsets, fewer than {wanted.value}: {beyond}")


def _say(partition: int, start: int, begins: int) -> None:
    what = "is as it was" if begins == start else f"begins at {begins} now, and not at {start}"
    print(f"partition {partition}: {what}")


def _say_dry(partition: int, start: int, begins: int) -> None:
    what = "stay as it is" if begins == start else f"begin at {begins}"
    print(f"partition {partition}: would {what} (begins at {start})")
