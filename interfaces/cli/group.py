"""`ottla group list|describe|delete`, with the tables of kafka-consumer-groups."""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from interfaces.cli.client import Clients, each_result, print_each
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.kafka_tables import GROUPS, OFFSETS, STATE, laid_out
from interfaces.cli.output import confirmed, note, show
from interfaces.cli.positions import Place, bounds_of
from interfaces.terminal.endings import complain

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

Row = dict[str, Any]

_NO_METADATA = -1001


def list_groups(parsed: argparse.Namespace) -> int:
    try:
        pattern = re.compile(parsed.pattern or "")
    except re.error as wrong:
        raise UsageError(f"invalid regular expression {parsed.pattern!r}: {wrong}") from None
    clients = Clients(parsed)
    admin = clients.admin()
    with clients.requesting("the groups", admin):
        listed = clients.result(
            "the groups", admin.list_consumer_groups(request_timeout=clients.timeout_s), admin
        )
    for error in listed.errors:
        complain(f"the groups: {error}")
    rows = [
        {
            "group": one.group_id,
            "type": _word(one.type),
            "state": _word(one.state),
        }
        for one in sorted(listed.valid, key=lambda one: one.group_id)
        if pattern.search(one.group_id)
    ]
    table = laid_out(GROUPS, [{name.upper(): row[name] for name in row} for row in rows])
    show(rows, parsed.output, table)
    return 1 if listed.errors else 0


def describe(parsed: argparse.Namespace) -> int:
    names = list(dict.fromkeys(parsed.names))
    if parsed.export and (len(names) > 1 or parsed.state or parsed.output != "table"):
        raise UsageError("--export is for one group, without -s and -o")
    clients = Clients(parsed)
    admin = clients.admin()
    if parsed.export:
        return _export(clients, admin, names[0])
    with clients.requesting("the groups", admin):
        futures = admin.describe_consumer_groups(names, request_timeout=clients.timeout_s)
    failed = 0
    described: list[Row] = []
    tables: list[str] = []
    for name, outcome in each_result(clients, futures, lambda name: f"group {name}"):
        if isinstance(outcome, CommandFailed):
            complain(str(outcome))
            failed = 1
            continue
        rows = [] if parsed.state else _rows(clients, admin, name, outcome)
        state = _word(outcome.state)
        if state == "Dead" and not rows:
            complain(f"group {name} does not exist")
            failed = 1
            continue
        described.append(_described(outcome, rows, parsed.state))
        if parsed.output == "table":
            _note_emptiness(name, state, outcome)
            tables.append(_state_table(outcome) if parsed.state else laid_out(OFFSETS, rows))
    show(described, parsed.output, "\n\n".join(tables))
    return failed


def _export(clients: Clients, admin: AdminClient, name: str) -> int:
    committed = committed_offsets(clients, admin, name)
    if not committed:
        raise CommandFailed(f"group {name} has no committed offsets")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerows((*place, offset) for place, offset in sorted(committed.items()))
    return 0


def _note_emptiness(name: str, state: str, outcome: ConsumerGroupDescription) -> None:
    if not outcome.members:
        note(f"Consumer group '{name}' has no active members.")
    elif state in ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"):
        note(f"Warning: Consumer group '{name}' is rebalancing.")


def _described(outcome: ConsumerGroupDescription, rows: list[Row], state_only: bool) -> Row:
    node: Any = outcome.coordinator
    described: Row = {
        "group": outcome.group_id,
        "state": _word(outcome.state),
        "assignment_strategy": outcome.partition_assignor,
        "coordinator": node and f"{node.host}:{node.port} ({node.id})",
        "members": len(outcome.members),
    }
    if not state_only:
        described["offsets"] = [
            {one.head.lower().replace("-", "_"): row[one.head] for one in OFFSETS[1:]}
            for row in rows
        ]
    return described


def _state_table(outcome: ConsumerGroupDescription) -> str:
    node: Any = outcome.coordinator
    row = {
        "GROUP": outcome.group_id,
        "COORDINATOR (ID)": node and f"{node.host}:{node.port}  ({node.id})",
        "ASSIGNMENT-STRATEGY": outcome.partition_assignor,
        "STATE": _word(outcome.state),
        "#MEMBERS": len(outcome.members),
    }
    return laid_out(STATE, [row])


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
    heads = (one.head for one in OFFSETS)
    return dict(zip(heads, (name, topic, partition, *numbers, *who), strict=True))


def committed_offsets(clients: Clients, admin: AdminClient, group: str) -> dict[Place, int]:
    from confluent_kafka import ConsumerGroupTopicPartitions

    what = f"the offsets of group {group}"
    with clients.requesting(what, admin):
        [future] = admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], request_timeout=clients.timeout_s
        ).values()
    found = clients.result(what, future, admin).topic_partitions
    return {(one.topic, one.partition): one.offset for one in found if one.offset > _NO_METADATA}


def delete(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    names = list(dict.fromkeys(parsed.names))
    if not confirmed(f"Delete {', '.join(names)} with all committed offsets?", parsed.yes):
        raise CommandFailed("not confirmed: nothing deleted")
    with clients.requesting("the groups", admin):
        futures = admin.delete_consumer_groups(names, request_timeout=clients.timeout_s)
    return print_each(
        clients, futures, lambda name: f"group {name}", lambda name, _: f"{name}: deleted"
    )


def _word(value: Any) -> str:
    """STABLE becomes Stable, as kafka-consumer-groups prints it."""
    name = getattr(value, "name", None) or str(value)
    word = "".join(part.capitalize() for part in name.split("_"))
    return word.replace("Rebalancing", "Rebalance")
