"""`ottla cluster describe|health|unregister`."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.topics.topic import OFFSETS_TOPIC
from interfaces.cli.client import Clients
from interfaces.cli.cluster_moves import placed_of
from interfaces.cli.cluster_plan import Place, Placed, leaders, preferred_leaders
from interfaces.cli.cluster_requests import (
    WHY_FENCED,
    leader_epochs,
    registered_brokers,
    unregister_broker,
)
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.internal_topics import InternalTopics
from interfaces.cli.output import show, table
from interfaces.terminal.profiles import CLIENT_ID

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient, ClusterMetadata

    from interfaces.cli.rest import Row

_LOOK_EVERY_S = 0.5
_SHORT_LOOK_S = 2.0
#: Of the table.
_SHOWN_PROBLEMS = 20
_OF_BROKER = ("id", "host", "port", "rack", "fenced", "leaders", "preferred", "max_epoch")
#: From REST: Kafka's protocol has no fields for them.
_OF_SESSION = ("state", "session_id", "lease_ms")
#: Of the partitions with the same problem.
_EXAMPLES = 3


class Broker(NamedTuple):
    id: int
    host: str
    port: int
    rack: str | None
    fenced: bool


def describe(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    in_full = parsed.internal or parsed.output != "table"
    found = _described(clients, clients.admin(), in_full)
    columns: tuple[str, ...] = _OF_BROKER
    if parsed.sessions or parsed.admin is not None:
        from interfaces.cli.rest import rest_of

        columns += _OF_SESSION
        add_sessions(found, rest_of(parsed, clients).get("/brokers", "data"))
    text = [
        f"CLUSTER     {found['cluster_id']}",
        f"CONTROLLER  {found['controller']}",
        f"TOPICS      {found['topics']}",
        f"PARTITIONS  {found['partitions']}",
        "",
        table(columns, found["brokers"]),
    ]
    problems = found["problems"]
    if problems:
        text += ["", *(f"PROBLEM  {problem}" for problem in problems[:_SHOWN_PROBLEMS])]
    if len(problems) > _SHOWN_PROBLEMS:
        text.append(f"and {len(problems) - _SHOWN_PROBLEMS} more (-o json has all)")
    show(found, parsed.output, "\n".join(text))
    return 0


def _described(clients: Clients, admin: AdminClient, in_full: bool) -> dict[str, Any]:
    metadata = clients.metadata(admin)
    brokers, epochs = _brokers_and_epochs(clients, admin)
    placed = placed_of(metadata)
    led, preferred = leaders(placed), preferred_leaders(placed)
    highest = highest_epochs(placed, epochs)
    return {
        "cluster_id": metadata.cluster_id,
        "controller": metadata.controller_id if metadata.controller_id >= 0 else None,
        "topics": len(metadata.topics),
        "partitions": len(placed),
        "brokers": [
            dict(zip(_OF_BROKER, values, strict=True))
            for values in (
                (*one, led[one.id], preferred[one.id], highest.get(one.id)) for one in brokers
            )
        ],
        "problems": [
            *(f"broker {one.id} is fenced: {WHY_FENCED}" for one in brokers if one.fenced),
            *missing_brokers(placed, {one.id for one in brokers}),
            *leader_problems(placed, in_full),
        ],
    }


def _brokers_and_epochs(
    clients: Clients, admin: AdminClient
) -> tuple[list[Broker], Mapping[Place, int]]:
    """In the view of one broker. Without it, as with options of librdkafka alone: those alive."""
    brokers: list[Broker] = []
    try:
        with clients.wire("the brokers") as client:
            brokers = sorted(
                Broker(one.broker_id, one.host, one.port, one.rack, one.is_fenced)
                for one in registered_brokers(client)
            )
            return brokers, leader_epochs(client)
    except (CommandFailed, UsageError) as failure:
        clients.note(f"fenced brokers or leader epochs are not shown: {failure}")
    if not brokers:
        asked = admin.describe_cluster(request_timeout=clients.timeout_s)
        nodes = clients.result("the cluster", asked, admin).nodes
        brokers = sorted(Broker(one.id, one.host, one.port, one.rack, False) for one in nodes)
    return brokers, {}


def missing_brokers(placed: Mapping[Place, Placed], known: Collection[int]) -> list[str]:
    """Leaders and replicas that are none of the `known` brokers."""
    led = leaders(placed)
    replicas = Counter(node_id for one in placed.values() for node_id in one.replicas)
    found = []
    for node_id in sorted((led.keys() | replicas.keys()) - {*known, -1}):
        does = f"is a replica of {_partitions(replicas[node_id])}"
        if led[node_id]:
            does = f"leads {_partitions(led[node_id])}"
        found.append(f"broker {node_id} {does}, but is not listed")
    return found


def add_sessions(found: dict[str, Any], rows: list[Row]) -> None:
    """`rows`: of brokers, as REST has them. Raises CommandFailed if they are of another cluster."""
    others = {one["cluster_id"] for one in rows} - {found["cluster_id"]}
    if others:
        raise CommandFailed(
            f"this REST is of another cluster: {others.pop()}, not {found['cluster_id']} "
            "(--admin HOST:PORT)"
        )
    by_id = {one["broker_id"]: one for one in rows}
    for broker in found["brokers"]:
        row = by_id.get(broker["id"], {})  # or it has joined or left meanwhile
        broker.update({name: row.get(name) for name in _OF_SESSION})


def highest_epochs(placed: Mapping[Place, Placed], epochs: Mapping[Place, int]) -> dict[int, int]:
    """By broker, of the partitions that it leads. -1: the leader has none."""
    found: dict[int, int] = {}
    for place, one in placed.items():
        epoch = epochs.get(place, -1)
        if epoch >= 0:
            found[one.leader] = max(epoch, found.get(one.leader, epoch))
    return found


def leader_problems(placed: Mapping[Place, Placed], in_full: bool) -> list[str]:
    """Without `in_full` those of internal topics are one line, the first."""
    found, internal = [], InternalTopics(in_full)
    for (name, index), one in placed.items():
        if one.replicas[:1] == (one.leader,):
            continue
        if one.leader < 0:
            what, line = "without a leader", f"{name}-{index} has no leader"
        else:
            what = "not led by their preferred leader"
            line = f"{name}-{index} is led by {one.leader}, not by {one.replicas[0]}"
        if not internal.folds(name, what):
            found.append(line)
    return [*internal.lines(), *found]


def health(parsed: argparse.Namespace) -> int:
    if not parsed.watch:
        found = _health(parsed, parsed.timeout)
        _show(found, parsed.output)
        return 0 if found["healthy"] else 1
    deadline = time.monotonic() + parsed.timeout
    shown: dict[str, Any] = {}
    while True:
        left_s = deadline - time.monotonic()
        found = _health(parsed, min(_SHORT_LOOK_S, max(left_s, 0.1)))
        if found != shown:
            _show(found, parsed.output)
            shown = found
        if parsed.exit_when_healthy:
            if found["healthy"]:
                return 0
            if time.monotonic() >= deadline:
                raise CommandFailed(f"not healthy within {parsed.timeout:g} s")
        time.sleep(_LOOK_EVERY_S)


def _health(parsed: argparse.Namespace, timeout_s: float) -> dict[str, Any]:
    problems: list[str] = []
    reasons: list[str] = []
    try:
        if parsed.admin is not None:
            problems += _not_ready(parsed, timeout_s)
        else:
            # A client that failed to connect backs off: a new one.
            clients = Clients(parsed)
            clients.timeout_s = timeout_s
            clients.note = reasons.append
            admin = clients.admin()
            metadata = clients.metadata(admin)
            problems += problems_of(metadata)
            if OFFSETS_TOPIC in metadata.topics:
                _check_offsets(clients, admin)
    except CommandFailed as failure:
        problems += [str(failure), *reasons]
    return {"healthy": not problems, "problems": problems}


def _not_ready(parsed: argparse.Namespace, timeout_s: float) -> list[str]:
    """For health checks in a container, which may not reach the advertised address."""
    from interfaces.cli.rest import Rest

    # Whoever asks needs no user.
    options = Clients(parsed).options
    trusted = {name: options[name] for name in options if not name.startswith("sasl.")}
    checks = Rest(parsed.admin, timeout_s, trusted).get("/readyz", "checks", also=503)
    return [f"{one['name']}: {one['reason']}" for one in checks if one["status"] != "up"]


def _check_offsets(clients: Clients, admin: AdminClient) -> None:
    """Raises CommandFailed if committed offsets are not served: while PostgreSQL is away, brokers
    serve metadata and records only.

    Not asked before there are groups: a Kafka broker would create the topic.
    """
    from confluent_kafka import ConsumerGroupTopicPartitions

    # This group does not need to exist.
    asked = admin.list_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(CLIENT_ID)], request_timeout=clients.timeout_s
    )
    try:
        clients.result("committed offsets are not served", asked[CLIENT_ID], admin)
    except CommandFailed as failure:
        if "AUTHORIZATION_FAILED" not in str(failure):
            raise


def problems_of(metadata: ClusterMetadata) -> list[str]:
    found = []
    if not metadata.brokers:
        found.append("no broker")
    if metadata.controller_id < 0:
        found.append("no controller")
    alike: dict[str, list[str]] = {}
    for name, topic in sorted(metadata.topics.items()):
        for number, partition in sorted(topic.partitions.items()):
            if partition.leader < 0:
                alike.setdefault("without a leader", []).append(f"{name}-{number}")
            elif len(partition.isrs) < len(partition.replicas):
                missing = sorted(set(partition.replicas) - set(partition.isrs))
                what = f"without replica {', '.join(map(str, missing))}"
                alike.setdefault(what, []).append(f"{name}-{number}")
    return [*found, *(_counted(what, partitions) for what, partitions in alike.items())]


def _counted(what: str, partitions: list[str]) -> str:
    count, named = len(partitions), ", ".join(partitions[:_EXAMPLES])
    more = f" and {count - _EXAMPLES} more" if count > _EXAMPLES else ""
    return f"{_partitions(count)} {what}: {named}{more}"


def _partitions(count: int) -> str:
    return f"{count} partition{'' if count == 1 else 's'}"


def _show(found: dict[str, Any], form: str) -> None:
    lines = [f"HEALTHY  {'yes' if found['healthy'] else 'no'}"]
    lines += [f"PROBLEM  {problem}" for problem in found["problems"]]
    show(found, form, "\n".join(lines))


def unregister(parsed: argparse.Namespace) -> int:
    unregister_broker(Clients(parsed), parsed.node)
    print(f"broker {parsed.node}: unregistered")
    return 0
