"""`ottla group seek`: resets the committed offsets of a group without members."""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.group import committed_offsets
from interfaces.cli.kafka_tables import RESET, laid_out
from interfaces.cli.output import show
from interfaces.cli.positions import (
    OFFSET,
    Place,
    Position,
    bounds_of,
    chosen,
    position,
    resolved,
)
from interfaces.terminal.endings import complain

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka.admin import AdminClient

_NUMBER = re.compile(r"[0-9]{1,18}")
#: Errors of a commit by a client that is not a member.
_HAS_MEMBERS = ("UNKNOWN_MEMBER_ID", "NON_EMPTY_GROUP", "STALE_MEMBER_EPOCH")


def seek(parsed: argparse.Namespace) -> int:
    if (parsed.to is None) == (parsed.from_file is None):
        raise UsageError("expected --to OFFSET or --from-file FILE")
    target = None if parsed.to is None else position(parsed.to)
    planned = {} if parsed.from_file is None else _read(parsed)
    clients = Clients(parsed)
    admin = clients.admin()
    before = committed_offsets(clients, admin, parsed.name)
    places = _places(parsed, clients, admin, before) if target else _chosen(clients, admin, planned)
    [bounds] = bounds_of(clients, admin, places, target)
    after = {
        place: resolved(target or planned[place], bounds[place], before.get(place))
        for place in places
    }
    refused = {} if parsed.dry_run else _reset(clients, admin, parsed.name, after)
    rows = [
        {
            "group": parsed.name,
            "topic": topic,
            "partition": number,
            "new_offset": after[topic, number],
            "prior_offset": before.get((topic, number)),
        }
        for topic, number in places
        if (topic, number) not in refused
    ]
    heads = {one.head.lower().replace("-", "_"): one.head for one in RESET}
    table = laid_out(RESET, [{heads[name]: row[name] for name in row} for row in rows])
    reasons = set(refused.values())
    if not rows and len(reasons) == 1:
        show(rows, parsed.output, "")
        complain(f"group {parsed.name}: {reasons.pop()}")
        return 1
    show(rows, parsed.output, table)
    for (topic, number), reason in refused.items():
        complain(f"{topic}-{number}: {reason}")
    return 1 if refused else 0


def _read(parsed: argparse.Namespace) -> dict[Place, Position]:
    """topic,partition,offset as kafka-consumer-groups --export and `group describe --export`."""
    if parsed.topics or parsed.partitions is not None:
        raise UsageError("--from-file has topics and partitions: leave out -t and -p")
    found: dict[Place, Position] = {}
    try:
        with open(parsed.from_file, newline="", encoding="utf-8") as file:
            for number, row in enumerate(csv.reader(file), 1):
                if len(row) != 3 or not all(map(_NUMBER.fullmatch, row[1:])):
                    raise UsageError(
                        f"{parsed.from_file}: line {number} is not topic,partition,offset"
                    )
                found[row[0], int(row[1])] = Position(OFFSET, int(row[2]))
    except OSError as failure:
        raise CommandFailed(f"{parsed.from_file}: {failure.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as wrong:
        raise UsageError(f"{parsed.from_file}: {wrong}") from None
    if not found:
        raise UsageError(f"{parsed.from_file} is empty")
    return found


def _chosen(clients: Clients, admin: AdminClient, planned: Iterable[Place]) -> list[Place]:
    return [
        place
        for topic, places in groupby(sorted(planned), itemgetter(0))
        for place in chosen(clients, admin, topic, tuple(number for _, number in places))
    ]


def _places(
    parsed: argparse.Namespace, clients: Clients, admin: AdminClient, committed: dict[Place, int]
) -> list[Place]:
    if parsed.topics:
        return [
            place
            for topic in dict.fromkeys(parsed.topics)
            for place in chosen(clients, admin, topic, parsed.partitions)
        ]
    known = clients.metadata(admin).topics
    places = sorted(
        (topic, number)
        for topic, number in committed
        if (parsed.partitions is None or number in parsed.partitions) and topic in known
    )
    if not places:
        raise CommandFailed(f"group {parsed.name} has no committed offsets: name topics with -t")
    return places


def _reset(
    clients: Clients, admin: AdminClient, group: str, after: dict[Place, int]
) -> dict[Place, str]:
    from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

    what = f"group {group}"
    request = ConsumerGroupTopicPartitions(
        group, [TopicPartition(*place, offset) for place, offset in after.items()]
    )
    with clients.requesting(what, admin):
        [future] = admin.alter_consumer_group_offsets(
            [request], request_timeout=clients.timeout_s
        ).values()
    altered = clients.result(what, future, admin)
    return {
        (one.topic, one.partition): _why(one.error)
        for one in altered.topic_partitions
        if one.error is not None
    }


def _why(error: KafkaError) -> str:
    if error.name() in _HAS_MEMBERS:
        return "offsets can be reset only while the group has no members"
    return error.str()
