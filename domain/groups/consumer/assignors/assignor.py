"""What an assignor is asked and answers: which member reads which partitions (KIP-848).

An assignor is a function of the members and the partitions alone: the same question gets the same
answer, in whatever order the members are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

#: Partitions by the id of their topic; no topic is there with none.
Partitions = Mapping[bytes, frozenset[int]]

NO_PARTITIONS: Partitions = {}


class AssignedMember(NamedTuple):
    """A member, as an assignor sees it."""

    instance_id: str | None
    #: Ids of the topics it is subscribed to.
    topics: frozenset[bytes]
    #: What the last assignment gave it.
    assigned: Partitions = NO_PARTITIONS


#: Members by id and the number of partitions of each topic they name -> what each is to have.
Assignor = Callable[[Mapping[str, AssignedMember], Mapping[bytes, int]], dict[str, Partitions]]


def subscribers_of_topics(
    members: Mapping[str, AssignedMember], order: Iterable[str]
) -> dict[bytes, list[str]]:
    """In this order of the members; topics with the same subscribers have one list together.

    Most members of a group want the same, so members are sorted by what they want first.
    """
    alike: dict[frozenset[bytes], list[str]] = {}
    places: dict[str, int] = {}
    for place, member_id in enumerate(order):
        places[member_id] = place
        alike.setdefault(members[member_id].topics, []).append(member_id)
    wanted_by: dict[bytes, list[int]] = {}
    for number, topics in enumerate(alike):
        for topic_id in topics:
            wanted_by.setdefault(topic_id, []).append(number)
    groups = list(alike.values())
    joined: dict[tuple[int, ...], list[str]] = {}
    found: dict[bytes, list[str]] = {}
    for topic_id, numbers in wanted_by.items():
        key = tuple(numbers)
        if key not in joined:
            joined[key] = sorted(
                (one for number in numbers for one in groups[number]), key=places.__getitem__
            )
        found[topic_id] = joined[key]
    return found
