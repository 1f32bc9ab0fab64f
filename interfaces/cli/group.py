"""`ottla group list|describe|delete`; the table of describe is that of kafka-consumer-groups."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from interfaces.cli.client import Clients, each_result
from interfaces.cli.failures import CommandFailed, NotUnderstood
from interfaces.cli.output import cell, complain, confirmed, note, show, show_rows
from interfaces.cli.positions import Place, bounds_of

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

Row = dict[str, Any]

COLUMNS = (
    "GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
    "CONSUMER-ID", "HOST", "CLIENT-ID",
)  # fmt: skip
#: As wide as Kafka makes them at the least; the last one ends where it ends.
_WIDTHS = (15, 15, 10, 15, 15, 15, 15, 15, 0)
_GROW = {0, 1, 6, 7}

_NO_METADATA = -1001


def list_groups(parsed: argparse.Namespace) -> int:
    try:
        pattern = re.compile(parsed.pattern or "")
    except re.error as wrong:
        raise NotUnderstood(f"{parsed.pattern!r} is no regular expression: {wrong}") from None
    clients = Clients(parsed)
    admin = clients.admin()
    with clients.asking("the groups", admin):
        listed = clients.result(
            "the groups", admin.list_consumer_groups(request_timeout=clients.timeout_s), admin
        )
    for error in listed.errors:
        complain(f"the groups: {error}")
    rows = [
        {
            "group": one.group_id,
            "state": _word(one.state),
            "type": _word(one.type),
        }
        for one in sorted(listed.valid, key=lambda one: one.group_id)
        if pattern.search(one.group_id)
    ]
    show_rows(rows, parsed.output, ("group", "state", "type"))
    return 1 if listed.errors else 0


def describe(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    names = list(dict.fromkeys(parsed.names))
    with clients.asking("the groups", admin):
        futures = admin.describe_consumer_groups(names, request_timeout=clients.timeout_s)
    failed = 0
    told: list[Row] = []
    tables: list[str] = []
    for name, outcome in each_result(clients, futures, lambda name: f"group {name}"):
        if isinstance(outcome, CommandFailed):
            complain(str(outcome))
            failed = 1
            continue
        rows = [] if parsed.state else _rows(clients, admin, name, outcome)
        state = _word(outcome.state)
        if state == "Dead" and not rows:
            complain(f"group {name}: there is no such group")
            failed = 1
            continue
        told.append(_told(outcome, rows, parsed.state))
        if parsed.output == "table":
            _note_emptiness(name, state, outcome)
            tables.append("" if parsed.state else kafka_table(rows))
    if parsed.state:
        columns = ("group", "coordinator", "assignment_strategy", "state", "members")
        show_rows(told, parsed.output, columns)
    else:
        show(told, parsed.output, "\n\n".join(tables))
    return failed


def _note_emptiness(name: str, state: str, outcome: ConsumerGroupDescription) -> None:
    if not outcome.members:
        note(f"Consumer group '{name}' has no active members.")
    elif state in ("PreparingRebalancing", "CompletingRebalancing", "Assigning", "Reconciling"):
        note(f"Warning: Consumer group '{name}' is rebalancing.")


def _told(outcome: ConsumerGroupDescription, rows: list[Row], state_only: bool) -> Row:
    node: Any = outcome.coordinator
    told: Row = {
        "group": outcome.group_id,
        "state": _word(outcome.state),
        "assignment_strategy": outcome.partition_assignor,
        "coordinator": node and f"{node.host}:{node.port} ({node.id})",
        "members": len(outcome.members),
    }
    if not state_only:
        told["offsets"] = [
            {name.lower().replace("-", "_"): row[name] for name in COLUMNS[1:]} for row in rows
        ]
    return told


def _rows(
    clients: Clients, admin: AdminClient, name: str, outcome: ConsumerGroupDescription
) -> list[Row]:
    committed = committed_offsets(clients, admin, name)
    owners: dict[Place, Any] = {}
    idle = []
    members: list[Any] = outcome.members
    for member in members:
        held = member.assignment.topic_partitions if member.assignment else []
        for one in held:
            owners[one.topic, one.partition] = member
        if not held:
            idle.append(member)
    known = clients.metadata(admin).topics
    places = sorted(committed.keys() | owners.keys())
    there = [
        (topic, number)
        for topic, number in places
        if topic in known and number in known[topic].partitions
    ]
    [bounds] = bounds_of(clients, admin, there)
    rows = []
    for place in places:
        current = committed.get(place)
        end = bounds[place].end if place in bounds else None
        lag = None if current is None or end is None else max(0, end - current)
        rows.append(_row(name, place, (current, end, lag), owners.get(place)))
    return rows + [_row(name, None, (None, None, None), member) for member in idle]


def _row(name: str, place: Place | None, numbers: Iterable[int | None], member: Any) -> Row:
    topic, partition = place or (None, None)
    who = (
        (member.member_id, f"/{member.host.removeprefix('/')}", member.client_id)
        if member is not None
        else (None, None, None)
    )
    return dict(zip(COLUMNS, (name, topic, partition, *numbers, *who), strict=True))


def committed_offsets(clients: Clients, admin: AdminClient, group: str) -> dict[Place, int]:
    from confluent_kafka import ConsumerGroupTopicPartitions

    what = f"the offsets of group {group}"
    with clients.asking(what, admin):
        [future] = admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], request_timeout=clients.timeout_s
        ).values()
    found = clients.result(what, future, admin).topic_partitions
    return {(one.topic, one.partition): one.offset for one in found if one.offset > _NO_METADATA}


def kafka_table(rows: list[Row]) -> str:
    """Column for column as Kafka's own tool prints it: people cut and grep these."""
    lines = [COLUMNS, *([cell(row[name]) for name in COLUMNS] for row in rows)]
    widths = [
        max(width, *(len(line[n]) for line in lines[1:])) if n in _GROW and rows else width
        for n, width in enumerate(_WIDTHS)
    ]
    return "\n".join(
        " ".join(f"{text:<{width}}" for text, width in zip(line, widths, strict=True))
        for line in lines
    )


def delete(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    names = list(dict.fromkeys(parsed.names))
    if not confirmed(f"Delete {', '.join(names)} with all committed offsets?", parsed.yes):
        raise CommandFailed("nothing is deleted")
    with clients.asking("the groups", admin):
        futures = admin.delete_consumer_groups(names, request_timeout=clients.timeout_s)
    failed = 0
    for name, outcome in each_result(clients, futures, lambda name: f"group {name}"):
        if isinstance(outcome, CommandFailed):
            complain(str(outcome))
            failed = 1
        else:
            print(f"{name} is deleted")
    return failed


def _word(value: Any) -> str:
    """STABLE of an enumeration is Stable, as Kafka says it."""
    name = getattr(value, "name", None) or str(value)
    return "".join(part.capitalize() for part in name.split("_"))
