"""`ottla cluster balance|drain`: reassignments, planned here and made by the brokers."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from interfaces.cli.client import Clients
from interfaces.cli.cluster_plan import Place, Placed, Plan, Replicas, balanced, drained, removed
from interfaces.cli.cluster_requests import (
    check_no_refusals,
    elect_preferred,
    reassign,
    reassignments,
    registered_brokers,
)
from interfaces.cli.failures import CommandFailed
from interfaces.cli.internal_topics import InternalTopics
from interfaces.cli.output import note

if TYPE_CHECKING:
    from confluent_kafka.admin import ClusterMetadata

_LOOK_EVERY_S = 0.2
#: In a message.
_NAMED = 5


def balance(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    metadata = clients.metadata(clients.admin())
    placed = _as_it_will_be(metadata, clients)
    alive = sorted(metadata.brokers)
    plan = balanced(placed, alive)
    print(_executed(clients, placed, plan, alive, parsed))
    return 0


def drain(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    metadata = clients.metadata(clients.admin())
    placed = _as_it_will_be(metadata, clients)
    node_id, alive = parsed.node, sorted(metadata.brokers)
    if node_id not in alive and node_id not in _registered(clients):
        raise CommandFailed(f"there is no broker {node_id}, only {', '.join(map(str, alive))}")
    others = [each for each in alive if each != node_id]
    if not others:
        raise CommandFailed(f"no broker but {node_id} is alive, so nothing can be moved")
    plan = (removed if parsed.remove else drained)(placed, node_id, alive)
    fewer = sum(len(after) < len(placed[place].replicas) for place, after in plan.items())
    if fewer:
        note(f"{fewer} partitions have one replica less: all other brokers have one already")
    counts = _executed(clients, placed, plan, others, parsed)
    print(counts if parsed.dry_run else f"{counts}; broker {node_id} leads no partition")
    return 0


def _registered(clients: Clients) -> set[int]:
    with clients.wire("the brokers") as client:
        return {one.broker_id for one in registered_brokers(client)}


def _executed(
    clients: Clients,
    placed: Mapping[Place, Placed],
    plan: Plan,
    alive: list[int],
    parsed: argparse.Namespace,
) -> str:
    """Reassigns, then elects preferred leaders among `alive`. Returns how many."""
    is_dry, internal = parsed.dry_run, InternalTopics(parsed.internal)
    deadline = time.monotonic() + clients.timeout_s
    refused = reassign(clients, plan) if plan and not is_dry else {}
    for (name, index), after in plan.items():
        if (name, index) not in refused and not internal.folds(name, "reassigned"):
            print(f"{name}-{index}: {_ids(placed[name, index].replicas)} -> {_ids(after)}")
    check_no_refusals(refused)
    if not is_dry:
        _wait(clients, plan, deadline)
        placed = placed_of(clients.metadata(clients.admin()))
    elections = _elections(placed, plan, alive)
    if elections and not is_dry:
        check_no_refusals(elect_preferred(clients, elections))
    for (name, index), leader in elections.items():
        if not internal.folds(name, "with an elected leader"):
            print(f"{name}-{index}: leader {_shown(placed[name, index].leader)} -> {leader}")
    for line in internal.lines():
        print(line)
    dry = " (dry run)" if is_dry else ""
    return f"{_counted(plan, 'reassignment')}, {_counted(elections, 'election')}{dry}"


def placed_of(metadata: ClusterMetadata) -> dict[Place, Placed]:
    # The stubs type the fields of a partition as None.
    topics: Iterable[tuple[str, Any]] = sorted(metadata.topics.items())
    return {
        (name, index): Placed(tuple(one.replicas), one.leader)
        for name, topic in topics
        for index, one in sorted(topic.partitions.items())
    }


def _as_it_will_be(metadata: ClusterMetadata, clients: Clients) -> dict[Place, Placed]:
    """When the reassignments under way are done."""
    placed = placed_of(metadata)
    for place, (replicas, removing) in reassignments(clients).items():
        if place in placed:
            left = tuple(each for each in replicas if each not in removing)
            placed[place] = placed[place]._replace(replicas=left)
    return placed


def _elections(
    placed: Mapping[Place, Placed], plan: Plan, alive: Iterable[int]
) -> dict[Place, int]:
    """The preferred leaders that will not lead by a reassignment alone: a leader that is a replica
    still stays, as in Kafka.
    """
    living = set(alive)
    found = {}
    for place, one in placed.items():
        replicas = plan.get(place, one.replicas)
        is_moved = place in plan and one.leader not in replicas
        # A partition that the controller has not registered yet has none.
        preferred = next(iter(replicas), one.leader)
        if preferred in living and preferred != one.leader and not is_moved:
            found[place] = preferred
    return found


def _wait(clients: Clients, plan: Plan, deadline: float) -> None:
    if not plan:
        return
    while left := [place for place in reassignments(clients) if place in plan]:
        if time.monotonic() >= deadline:
            names = [f"{name}-{index}" for name, index in left[:_NAMED]]
            more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
            raise CommandFailed(
                f"after {clients.timeout_s:g} s still under way: {', '.join(names)}{more}; they go "
                "on, see `ottla cluster describe`"
            )
        time.sleep(_LOOK_EVERY_S)


def _ids(replicas: Replicas) -> str:
    return ",".join(map(str, replicas))


def _shown(leader: int) -> str:
    return "none" if leader < 0 else str(leader)


def _counted(of: Mapping[Place, object], noun: str) -> str:
    return f"{len(of)} {noun}{'' if len(of) == 1 else 's'}"
