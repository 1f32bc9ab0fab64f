"""`ottla group offset-delete`: OffsetDelete, which confluent-kafka does not have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.group import committed_offsets
from interfaces.cli.positions import Place
from interfaces.terminal.addresses import Address
from interfaces.terminal.endings import complain

if TYPE_CHECKING:
    from interfaces.kafka.wire.messages.offset_delete import OffsetDeleteResponse

_REASONS = {
    3: "the topic or partition does not exist",
    16: "the coordinator has moved: try again",
    24: "the group id is not valid",
    30: "not authorized",
    68: "the group has members of another protocol",
    69: "the group does not exist",
    86: "the group is subscribed to the topic",
}


def delete(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    places = sorted(
        (topic, number)
        for topic, number in committed_offsets(clients, admin, parsed.name)
        if topic in parsed.topics and (parsed.partitions is None or number in parsed.partitions)
    )
    if not places:
        topics = ", ".join(parsed.topics)
        raise CommandFailed(f"group {parsed.name} has no committed offsets for {topics}")
    response = _send(clients, parsed.name, places)
    if response.error_code:
        raise CommandFailed(f"group {parsed.name}: {_reason(response.error_code)}")
    failed = 0
    for topic in response.topics:
        for partition in topic.partitions:
            place = f"{topic.name}-{partition.partition_index}"
            if partition.error_code:
                complain(f"{place}: {_reason(partition.error_code)}")
                failed = 1
            else:
                print(f"{place}: committed offset deleted")
    return failed


def _send(clients: Clients, group: str, places: list[Place]) -> OffsetDeleteResponse:
    from interfaces.kafka.wire.messages.find_coordinator import (
        FindCoordinatorRequest,
        FindCoordinatorResponse,
    )
    from interfaces.kafka.wire.messages.offset_delete import (
        OffsetDeleteRequest,
        OffsetDeleteRequestPartition,
        OffsetDeleteRequestTopic,
        OffsetDeleteResponse,
    )

    partitions: dict[str, list[OffsetDeleteRequestPartition]] = {}
    for topic, number in places:
        one = OffsetDeleteRequestPartition(partition_index=number)
        partitions.setdefault(topic, []).append(one)
    topics = [OffsetDeleteRequestTopic(name=t, partitions=p) for t, p in partitions.items()]
    what = f"group {group}"
    with clients.wire(what) as client:
        found = client.send(FindCoordinatorRequest(key=group), 1, FindCoordinatorResponse)
    if found.error_code:
        raise CommandFailed(f"{what}: no coordinator (error {found.error_code})")
    with clients.wire(what, Address(found.host, found.port)) as client:
        request = OffsetDeleteRequest(group_id=group, topics=topics)
        return client.send(request, 0, OffsetDeleteResponse)


def _reason(code: int) -> str:
    return _REASONS.get(code, f"error {code}")
