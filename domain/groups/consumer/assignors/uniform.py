"""uniform: balances the number of partitions, and keeps assignments where balance allows it.

  1  each partition stays with its last member, if that is still subscribed
  2  an unassigned partition goes to the subscriber of its topic with the fewest partitions; topics
     with few subscribers first, as they have the least choice
  3  while one member of a topic has two more than another subscriber, a partition moves

Step 3 ends, because each move reduces a difference. Then members with the same subscription differ
by at most one. With different subscriptions, a better balance through a third member is not
searched, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heapreplace
from itertools import groupby

from domain.groups.consumer.assignors.assignor import (
    AssignedMember,
    Partitions,
    subscribers_of_topics,
)

#: Topic -> member -> partitions.
Holdings = dict[bytes, dict[str, set[int]]]


def assign(
    members: Mapping[str, AssignedMember], partition_counts: Mapping[bytes, int]
) -> dict[str, Partitions]:
    subscribers = subscribers_of_topics(members, sorted(members))
    first: dict[int, bytes] = {}
    for topic_id in sorted(subscribers):
        first.setdefault(id(subscribers[topic_id]), topic_id)
    # Topics with the same subscribers come one after the other.
    topics = sorted(
        subscribers, key=lambda one: (len(subscribers[one]), first[id(subscribers[one])], one)
    )
    holdings, loads = _retained(members, partition_counts)
    for _, alike in groupby(topics, key=lambda one: id(subscribers[one])):
        _assign_rest(list(alike), subscribers, holdings, partition_counts, loads)
    moved = True
    while moved:
        moved = False
        least: dict[int, int] = {}
        for topic_id in topics:
            ones = subscribers[topic_id]
            if id(ones) not in least:
                least[id(ones)] = min(loads[one] for one in ones)
            if max(loads[one] for one in holdings[topic_id]) - least[id(ones)] >= 2:
                _balance(holdings[topic_id], ones, loads)
                least.clear()
                moved = True
    return _by_member(members, holdings)


def _retained(
    members: Mapping[str, AssignedMember], partition_counts: Mapping[bytes, int]
) -> tuple[Holdings, dict[str, int]]:
    """If two members had the same partition, which must not happen, the first one keeps it."""
    holdings: Holdings = {topic_id: {} for topic_id in partition_counts}
    taken: dict[bytes, set[int]] = {topic_id: set() for topic_id in partition_counts}
    loads = dict.fromkeys(members, 0)
    for member_id in sorted(members):
        member = members[member_id]
        for topic_id, partitions in member.assigned.items():
            if topic_id not in member.topics:
                continue
            count = partition_counts[topic_id]
            retained = {one for one in partitions if one < count} - taken[topic_id]
            if retained:
                holdings[topic_id][member_id] = retained
                taken[topic_id] |= retained
                loads[member_id] += len(retained)
    return holdings, loads


def _assign_rest(
    topics: list[bytes],
    subscribers: Mapping[bytes, list[str]],
    holdings: Holdings,
    partition_counts: Mapping[bytes, int],
    loads: dict[str, int],
) -> None:
    """For topics with the same subscribers."""
    least = [(loads[member_id], member_id) for member_id in subscribers[topics[0]]]
    heapify(least)
    for topic_id in topics:
        _assign_topic(holdings[topic_id], least, partition_counts[topic_id], loads)


def _assign_topic(
    holders: dict[str, set[int]], least: list[tuple[int, str]], count: int, loads: dict[str, int]
) -> None:
    held = set().union(*holders.values())
    if len(held) == count:
        return
    for partition in range(count):
        if partition not in held:
            load, member_id = least[0]
            heapreplace(least, (load + 1, member_id))
            holders.setdefault(member_id, set()).add(partition)
            loads[member_id] += 1


def _balance(holders: dict[str, set[int]], subscribers: list[str], loads: dict[str, int]) -> None:
    least = [(loads[member_id], member_id) for member_id in subscribers]
    most = [(-loads[member_id], member_id) for member_id in holders]
    heapify(least)
    heapify(most)
    # The receiver has less than the giver, so no member is both, and the top of each heap is right.
    while most and -most[0][0] - least[0][0] >= 2:
        giver, receiver = most[0][1], least[0][1]
        partition = max(holders[giver])
        holders[giver].remove(partition)
        holders.setdefault(receiver, set()).add(partition)
        loads[giver] -= 1
        loads[receiver] += 1
        heapreplace(least, (loads[receiver], receiver))
        if holders[giver]:
            heapreplace(most, (-loads[giver], giver))
        else:
            del holders[giver]
            heappop(most)


def _by_member(members: Mapping[str, AssignedMember], holdings: Holdings) -> dict[str, Partitions]:
    assigned: dict[str, dict[bytes, frozenset[int]]] = {member_id: {} for member_id in members}
    for topic_id, holders in holdings.items():
        for member_id, partitions in holders.items():
            assigned[member_id][topic_id] = frozenset(partitions)
    return dict(assigned)
