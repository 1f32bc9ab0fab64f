"""`ottla topic trim`: deletes the records of partitions before an offset."""

from __future__ import annotations

import argparse
from typing import Any

from interfaces.cli.client import Clients, print_each
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
from interfaces.cli.refusals import configs_in_words


def trim(parsed: argparse.Namespace) -> int:
    from confluent_kafka import TopicPartition

    target = position(parsed.offset)
    clients = Clients(parsed)
    admin = clients.admin()
    places = chosen(clients, admin, parsed.name, parsed.partitions)
    _check_policy(clients, parsed.name)
    [bounds] = bounds_of(clients, admin, places, target)
    for place in places:
        _check(f"partition {place[1]} of {parsed.name}", target, bounds[place])
    before = {place: resolved(target, bounds[place]) for place in places}
    count = sum(before[place] - bounds[place].start for place in places)
    if parsed.dry_run or not count:
        dry = " (dry run)" if parsed.dry_run else ""
        for place in places:
            print(f"{_line(place[1], bounds[place].start, before[place])}{dry}")
        return 0
    if not confirmed(f"Delete the records of {count} offsets of {parsed.name}?", parsed.yes):
        raise CommandFailed("not confirmed: nothing deleted")
    with clients.requesting(f"the records of {parsed.name}", admin):
        futures = admin.delete_records(
            [TopicPartition(*place, before[place]) for place in places],
            request_timeout=clients.timeout_s,
        )

    def line(place: TopicPartition, deleted: Any) -> str:
        number = place.partition
        return _line(number, bounds[parsed.name, number].start, deleted.low_watermark)

    return print_each(clients, futures, lambda p: f"{p.topic}-{p.partition}", line)


def _check_policy(clients: Clients, topic: str) -> None:
    """The response of the broker has a code only."""
    for config in configs_in_words(clients, topic, ("cleanup.policy",)):
        if "delete" not in config:
            raise CommandFailed(f"{topic} has {config}; deleting records needs delete")


def _check(name: str, target: Position, bounds: Bounds) -> None:
    """Refuses an offset beyond the end, as the broker does: a typo must not delete all records."""
    hint = "nothing deleted (-o end deletes all)"
    if target.kind == OFFSET and target.value > bounds.end:
        raise CommandFailed(f"{name} ends at {bounds.end}, before {target.value}: {hint}")
    count = bounds.end - bounds.start
    if target.kind == PLUS and target.value > count:
        raise CommandFailed(f"{name} has {count} offsets, fewer than {target.value}: {hint}")


def _line(partition: int, start: int, new_start: int) -> str:
    return f"partition {partition}: start offset {start} -> {new_start}"
