"""`ottla topic create|list|describe|delete`."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from interfaces.cli import effects
from interfaces.cli.client import Clients, each_result
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.output import confirmed, show, show_rows, table
from interfaces.cli.positions import bounds_of
from interfaces.cli.topic_config import configs_of
from interfaces.terminal.endings import complain

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient, TopicMetadata

_EXISTS, _UNKNOWN = "TOPIC_ALREADY_EXISTS", "UNKNOWN_TOPIC_OR_PART"
#: The broker uses its default.
_DEFAULT = -1


def create(parsed: argparse.Namespace) -> int:
    from confluent_kafka.cimpl import NewTopic

    clients = Clients(parsed)
    admin = clients.admin()
    configs = dict(parsed.config or ())
    topics = [
        NewTopic(
            name,
            num_partitions=parsed.partitions or _DEFAULT,
            replication_factor=parsed.replication_factor or _DEFAULT,
            config=configs,
        )
        for name in parsed.names
    ]
    with clients.requesting("the topics", admin):
        futures = admin.create_topics(
            topics, request_timeout=clients.timeout_s, validate_only=parsed.dry_run
        )
    failed = 0
    created = []
    for name, outcome in each_result(clients, futures, lambda name: f"topic {name}"):
        if not isinstance(outcome, CommandFailed):
            created.append(name)
            print(f"{name}: {'would be created (dry run)' if parsed.dry_run else 'created'}")
        elif parsed.if_not_exists and _EXISTS in str(outcome):
            print(f"{name}: already exists")
        else:
            complain(str(outcome))
            failed = 1
    if created:
        effects.warn(clients, admin, configs)
    return failed


def list_topics(parsed: argparse.Namespace) -> int:
    try:
        pattern = re.compile(parsed.pattern or "")
    except re.error as wrong:
        raise UsageError(f"invalid regular expression {parsed.pattern!r}: {wrong}") from None
    clients = Clients(parsed)
    rows = [
        {
            "name": name,
            "partitions": len(topic.partitions),
            "replicas": _replicas(topic),
        }
        for name, topic in sorted(clients.metadata(clients.admin()).topics.items())
        if pattern.search(name) and (parsed.internal or not name.startswith("__"))
    ]
    show_rows(rows, parsed.output, ("name", "partitions", "replicas"))
    return 0


def describe(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    existing = clients.metadata(admin).topics
    missing = [name for name in parsed.names if name not in existing]
    names = [name for name in parsed.names if name in existing]
    described = [_described(clients, admin, name, existing[name]) for name in names]
    show(described, parsed.output, "\n\n".join(map(_text, described)))
    for name in missing:
        complain(f"topic {name} does not exist")
    return 1 if missing else 0


def _described(
    clients: Clients, admin: AdminClient, name: str, topic: TopicMetadata
) -> dict[str, Any]:
    usable = [n for n, one in topic.partitions.items() if one.leader >= 0]
    [bounds] = bounds_of(clients, admin, [(name, number) for number in usable])
    rows = []
    for number, partition in sorted(topic.partitions.items()):
        known = bounds.get((name, number))
        rows.append(
            {
                "partition": number,
                "leader": partition.leader,
                "replicas": list(partition.replicas),
                "isr": list(partition.isrs),
                "start_offset": known and known.start,
                "end_offset": known and known.end,
            }
        )
    configs = {one["name"]: one["value"] for one in configs_of(clients, admin, name) if one["set"]}
    return {
        "name": name,
        "partitions": rows,
        "replication_factor": _replicas(topic),
        "configs": configs,
        "warnings": effects.warnings(clients, admin, configs),
    }


def _text(one: dict[str, Any]) -> str:
    rows = one["partitions"]
    head = [
        f"TOPIC       {one['name']}",
        f"PARTITIONS  {len(rows)}",
        f"REPLICAS    {one['replication_factor']}",
        *(f"CONFIG      {name}={value}" for name, value in one["configs"].items()),
        *(f"WARNING     {warning}" for warning in one["warnings"]),
    ]
    columns = ("partition", "leader", "replicas", "isr", "start_offset", "end_offset")
    return "\n".join([*head, "", table(columns, rows)])


def delete(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    names = list(dict.fromkeys(parsed.names))
    if not confirmed(f"Delete {', '.join(names)} with all records?", parsed.yes):
        raise CommandFailed("not confirmed: nothing deleted")
    with clients.requesting("the topics", admin):
        futures = admin.delete_topics(names, request_timeout=clients.timeout_s)
    failed = 0
    for name, outcome in each_result(clients, futures, lambda name: f"topic {name}"):
        if not isinstance(outcome, CommandFailed):
            print(f"{name}: deleted")
        elif _UNKNOWN not in str(outcome):
            complain(str(outcome))
            failed = 1
        elif parsed.if_exists:
            print(f"{name}: does not exist")
        else:
            complain(f"topic {name} does not exist")
            failed = 1
    return failed


def _replicas(topic: TopicMetadata) -> int:
    return max((len(one.replicas) for one in topic.partitions.values()), default=0)
