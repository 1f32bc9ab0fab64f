"""uniform: everybody has as much as everybody else, as far as subscriptions allow, and what a
member has it keeps where that does not stand against balance.

  1  each partition stays with whom it was given last time, if that member is still subscribed
  2  what nobody has goes to its topic's subscriber who has least; topics of few subscribers first,
     as they have the least choice
  3  while one holder of a topic has two more than another subscriber of it, a partition moves

The third step ends: each move brings the numbers nearer together. When it has, two members with
the same subscription differ by one at most, because each could give the other what it has. Where
subscriptions differ, a better balance through a third member is not looked for; Kafka's does not
either.
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
    holdings, loads = _kept(members, partition_counts)
    for _, alike in groupby(topics, key=lambda one: id(subscribers[one])):
        _hand_out_all(list(alike), subscribers, holdings, partition_counts, loads)
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


def _kept(
    members: Mapping[str, AssignedMember], partition_counts: Mapping[bytes, int]
) -> tuple[Holdings, dict[str, int]]:
    """A partition that two had last time, which must not be, stays with the first of them."""
    holdings: Holdings = {topic_id: {} for topic_id in partition_counts}
    taken: dict[bytes, set[int]] = {topic_id: set() for topic_id in partition_counts}
    loads = dict.fromkeys(members, 0)
    for member_id in sorted(members):
        member = members[member_id]
        for topic_id, partitions in member.assigned.items():
            if topic_id not in member.topics:
                continue
            count = partition_counts[topic_id]
            kept = {one for one in partitions if one < count} - taken[topic_id]
            if kept:
                holdings[topic_id][member_id] = kept
                taken[topic_id] |= kept
                loads[member_id] += len(kept)
    return holdings, loads


def _hand_out_all(
    topics: list[bytes],
    subscribers: Mapping[bytes, list[str]],
    holdings: Holdings,
    partition_counts: Mapping[bytes, int],
    loads: dict[str, int],
) -> None:
    """Of topics with the same subscribers."""
    least = [(loads[member_id], member_id) for member_id in subscribers[topics[0]]]
    heapify(least)
    for topic_id in topics:
        _hand_out(holdings[topic_id], least, partition_counts[topic_id], loads)


def _hand_out(
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
    # Whoever receives has less than whoever gives, so nobody does both, and each heap is true for
    # those at its top.
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
