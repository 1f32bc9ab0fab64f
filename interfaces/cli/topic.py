"""`ottla topic create|list|describe|add-partitions|delete`."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interfaces.cli import effects
from interfaces.cli.client import INTERNAL, Clients, each_result, no_topic, print_each
from interfaces.cli.configs import configs_of, with_hint
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.log_dirs import replicas
from interfaces.cli.output import confirmed, show, show_rows, table
from interfaces.cli.positions import bounds_of
from interfaces.cli.retention import compaction_line, compaction_of, lines, retention_of
from interfaces.terminal.endings import complain

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient, TopicMetadata
    from confluent_kafka.cimpl import NewTopic

_EXISTS, _UNKNOWN = "TOPIC_ALREADY_EXISTS", "UNKNOWN_TOPIC_OR_PART"
#: Of a request, which the broker may have received.
_TIMEOUTS = ("no response from", "REQUEST_TIMED_OUT")
#: The broker uses its default.
_DEFAULT = -1
_DETAILS = ("offsets", "size")
_OF_PARTITION = (
    "partition", "leader", "leader_epoch", "replicas", "isr", "start_offset", "end_offset",
)  # fmt: skip


def create(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    configs = dict(parsed.config or ())
    topics = [
        new_topic(
            name, parsed.partitions or _DEFAULT, parsed.replication_factor or _DEFAULT, configs
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
            why = with_hint(outcome, configs)
            if not parsed.dry_run and any(one in why for one in _TIMEOUTS):
                why += "; the topic may still be created"
            complain(why)
            failed = 1
    if created:
        effects.warn(clients, admin, configs)
    return failed


def new_topic(
    name: str, partitions: int, replication_factor: int, configs: Mapping[str, str]
) -> NewTopic:
    from confluent_kafka.cimpl import NewTopic

    return NewTopic(
        name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        config=dict(configs),
    )


def add_partitions(parsed: argparse.Namespace) -> int:
    from confluent_kafka.cimpl import NewPartitions

    clients = Clients(parsed)
    admin = clients.admin()
    counts = {name: len(clients.partitions(admin, name)) for name in dict.fromkeys(parsed.names)}
    with clients.requesting("the topics", admin):
        futures = admin.create_partitions(
            [NewPartitions(name, count + parsed.num) for name, count in counts.items()],
            request_timeout=clients.timeout_s,
            validate_only=parsed.dry_run,
        )
    dry = " (dry run)" if parsed.dry_run else ""

    def line(name: str, _: None) -> str:
        return f"{name}: {counts[name]} -> {counts[name] + parsed.num} partitions{dry}"

    return print_each(clients, futures, lambda name: f"topic {name}", line)


def list_topics(parsed: argparse.Namespace) -> int:
    try:
        pattern = re.compile(parsed.pattern or "")
    except re.error as wrong:
        raise UsageError(f"invalid regular expression {parsed.pattern!r}: {wrong}") from None
    clients = Clients(parsed)
    admin = clients.admin()
    topics = {
        name: topic
        for name, topic in sorted(clients.metadata(admin).topics.items())
        if pattern.search(name) and (parsed.internal or not name.startswith(INTERNAL))
    }
    details = _details(clients, admin, topics) if parsed.detailed else {}
    rows = [
        {"name": name, "partitions": len(topic.partitions), "replicas": _replicas(topic)}
        | details.get(name, {})
        for name, topic in topics.items()
    ]
    columns = ("name", "partitions", "replicas")
    show_rows(rows, parsed.output, columns + (_DETAILS if parsed.detailed else ()))
    return 0


def _details(
    clients: Clients, admin: AdminClient, topics: Mapping[str, TopicMetadata]
) -> dict[str, dict[str, int | None]]:
    """Offsets between start and end, of which compaction may have removed some, and bytes of all
    replicas.
    """
    places = [(name, number) for name, topic in topics.items() for number in _usable(topic)]
    offsets, sizes = Counter[str](), Counter[str]()
    for (name, _), bounds in bounds_of(clients, admin, places)[0].items():
        offsets[name] += bounds.end - bounds.start
    try:
        found, failed = replicas(clients, admin)
    except CommandFailed as failure:
        found, failed = [], [str(failure)]
    for one in found:
        sizes[one.topic] += one.size
    for line in failed:
        complain(line)
    return {name: {"offsets": offsets[name], "size": sizes.get(name)} for name in topics}


def describe(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    existing = clients.metadata(admin).topics
    missing = [name for name in parsed.names if name not in existing]
    names = [name for name in parsed.names if name in existing]
    described = [_described(clients, admin, name, existing[name]) for name in names]
    show(described, parsed.output, "\n\n".join(map(_text, described)))
    for name in missing:
        try:
            clients.check_described(name)
            complain(no_topic(name, existing))
        except CommandFailed as refused:
            complain(str(refused))
    return 1 if missing else 0


def _described(
    clients: Clients, admin: AdminClient, name: str, topic: TopicMetadata
) -> dict[str, Any]:
    places = [(name, number) for number in _usable(topic)]
    [bounds] = bounds_of(clients, admin, places)
    rows = []
    for number, partition in sorted(topic.partitions.items()):
        known = bounds.get((name, number))
        rows.append(
            {
                "partition": number,
                "leader": partition.leader,
                "leader_epoch": known and known.leader_epoch,
                "replicas": list(partition.replicas),
                "isr": list(partition.isrs),
                "start_offset": known and known.start,
                "end_offset": known and known.end,
            }
        )
    all_configs = configs_of(clients, admin, name)
    configs = {one["name"]: one["value"] for one in all_configs if one["set"]}
    return {
        "name": name,
        "partitions": rows,
        "replication_factor": _replicas(topic),
        "retention": retention_of(clients, admin, places, all_configs),
        "compaction": compaction_of(all_configs),
        "configs": configs,
        "warnings": effects.warnings(clients, admin, configs),
    }


def _text(one: dict[str, Any]) -> str:
    rows = one["partitions"]
    head = [
        f"TOPIC       {one['name']}",
        f"PARTITIONS  {len(rows)}",
        f"REPLICAS    {one['replication_factor']}",
        *lines(one["retention"]),
        *([compaction_line(one["compaction"])] if one["compaction"] else ()),
        *(f"CONFIG      {name}={value}" for name, value in one["configs"].items()),
        *(f"WARNING     {warning}" for warning in one["warnings"]),
    ]
    return "\n".join([*head, "", table(_OF_PARTITION, rows)])


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
            complain(no_topic(name, clients.metadata(admin).topics))
            failed = 1
    return failed


def _usable(topic: TopicMetadata) -> list[int]:
    """Partitions with a leader."""
    return [number for number, one in topic.partitions.items() if one.leader >= 0]


def _replicas(topic: TopicMetadata) -> int:
    return max((len(one.replicas) for one in topic.partitions.values()), default=0)
