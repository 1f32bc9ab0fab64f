"""range: each topic is cut into runs of neighbouring partitions, one for each subscriber.

Topics of the same number of partitions and the same subscribers are cut alike, so partitions of
the same number come together at one member: records of one key can be joined there. Members are in
the order of their instance ids, where they have any, so that a static member that comes back under
another id gets the same run.
"""

from __future__ import annotations

from collections.abc import Mapping

from domain.groups.consumer.assignors.assignor import (
    AssignedMember,
    Partitions,
    subscribers_of_topics,
)


def assign(
    members: Mapping[str, AssignedMember], partition_counts: Mapping[bytes, int]
) -> dict[str, Partitions]:
    assigned: dict[str, dict[bytes, frozenset[int]]] = {member_id: {} for member_id in members}
    order = sorted(members, key=lambda one: _place(one, members[one]))
    for topic_id, member_ids in subscribers_of_topics(members, order).items():
        least, longer = divmod(partition_counts[topic_id], len(member_ids))
        start = 0
        for place in range(len(member_ids) if least else longer):
            end = start + least + (place < longer)
            assigned[member_ids[place]][topic_id] = frozenset(range(start, end))
            start = end
    return dict(assigned)


def _place(member_id: str, member: AssignedMember) -> tuple[bool, str]:
    """Static members come first."""
    if member.instance_id is None:
        return True, member_id
    return False, member.instance_id
