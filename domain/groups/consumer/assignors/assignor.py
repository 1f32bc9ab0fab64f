"""Assignors: functions from members and partitions to assignments (KIP-848).

The result depends on members and partitions only, not on the order of the members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

#: Partitions by topic id; never an empty set.
Partitions = Mapping[bytes, frozenset[int]]

NO_PARTITIONS: Partitions = {}


class AssignedMember(NamedTuple):
    """The input of an assignor for one member."""

    instance_id: str | None
    #: Ids of the subscribed topics.
    topics: frozenset[bytes]
    #: The last assignment.
    assigned: Partitions = NO_PARTITIONS


#: Members by id, and the number of partitions of each subscribed topic -> assignments.
Assignor = Callable[[Mapping[str, AssignedMember], Mapping[bytes, int]], dict[str, Partitions]]


def subscribers_of_topics(
    members: Mapping[str, AssignedMember], order: Iterable[str]
) -> dict[bytes, list[str]]:
    """In this order of the members; topics with the same subscribers share one list.

    Most members of a group have the same subscription, so members are grouped by it first.
    """
    alike: dict[frozenset[bytes], list[str]] = {}
    positions: dict[str, int] = {}
    for position, member_id in enumerate(order):
        positions[member_id] = position
        alike.setdefault(members[member_id].topics, []).append(member_id)
    subscribed_by: dict[bytes, list[int]] = {}
    for number, topics in enumerate(alike):
        for topic_id in topics:
            subscribed_by.setdefault(topic_id, []).append(number)
    groups = list(alike.values())
    joined: dict[tuple[int, ...], list[str]] = {}
    found: dict[bytes, list[str]] = {}
    for topic_id, numbers in subscribed_by.items():
        key = tuple(numbers)
        if key not in joined:
            joined[key] = sorted(
                (one for number in numbers for one in groups[number]), key=positions.__getitem__
            )
        found[topic_id] = joined[key]
    return found
