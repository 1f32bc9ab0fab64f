"""`ottla group offset-delete`: as if the group had never read these partitions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.group import committed_offsets
from interfaces.cli.probe.wire_client import NoAnswer, WireClient
from interfaces.terminal.addresses import Address
from interfaces.terminal.endings import complain
from interfaces.terminal.reachable import reason_of

if TYPE_CHECKING:
    from interfaces.kafka.wire.messages.offset_delete import OffsetDeleteResponse

_REASONS = {
    3: "there is no such topic or partition",
    16: "the coordinator has moved, try again",
    24: "this is no id of a group",
    30: "not authorized",
    68: "the group has members that read something else than topics",
    69: "there is no such group",
    86: "the group is subscribed to that topic",
}


def delete(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    protocol = clients.options.get("security.protocol", "plaintext").lower()
    if protocol != "plaintext":
        raise CommandFailed(
            "the client library cannot delete offsets, and Ottla's own client speaks plain "
            f"connections only, not {protocol}"
        )
    places = sorted(
        (topic, number)
        for topic, number in committed_offsets(clients, admin, parsed.name)
        if topic in parsed.topics and (parsed.partitions is None or number in parsed.partitions)
    )
    if not places:
        raise CommandFailed(f"group {parsed.name} has no offsets there")
    try:
        answer = _ask(clients, parsed.name, places)
    except NoAnswer as failure:
        raise CommandFailed(f"group {parsed.name}: {failure}") from None
    except OSError as failure:
        raise CommandFailed(f"group {parsed.name}: {reason_of(failure)}") from None
    if answer.error_code:
        raise CommandFailed(f"group {parsed.name}: {_why(answer.error_code)}")
    failed = 0
    for topic in answer.topics:
        for partition in topic.partitions:
            if partition.error_code:
                complain(f"{topic.name}-{partition.partition_index}: {_why(partition.error_code)}")
                failed = 1
            else:
                print(f"{topic.name}-{partition.partition_index}: the offset is deleted")
    return failed


def _ask(clients: Clients, group: str, places: list[tuple[str, int]]) -> OffsetDeleteResponse:
    from interfaces.kafka.wire.messages.offset_delete import (
        OffsetDeleteRequest,
        OffsetDeleteRequestPartition,
        OffsetDeleteRequestTopic,
        OffsetDeleteResponse,
    )

    topics = [
        OffsetDeleteRequestTopic(
            name=topic,
            partitions=[
                OffsetDeleteRequestPartition(partition_index=number)
                for name, number in places
                if name == topic
            ],
        )
        for topic in dict.fromkeys(topic for topic, _ in places)
    ]
    address = _coordinator(clients.first_reachable(), group, clients.timeout_s)
    with WireClient(address, clients.timeout_s) as client:
        request = OffsetDeleteRequest(group_id=group, topics=topics)
        return client.ask(request, 0, OffsetDeleteResponse)


def _coordinator(address: Address, group: str, timeout_s: float) -> Address:
    from interfaces.kafka.wire.messages.find_coordinator import (
        FindCoordinatorRequest,
        FindCoordinatorResponse,
    )

    with WireClient(address, timeout_s) as client:
        found = client.ask(FindCoordinatorRequest(key=group), 1, FindCoordinatorResponse)
    if found.error_code:
        raise CommandFailed(f"group {group}: no coordinator (error {found.error_code})")
    return Address(found.host, found.port)


def _why(code: int) -> str:
    return _REASONS.get(code, f"error {code}")
