"""range: each subscriber of a topic gets a range of its partitions.

Topics with the same subscribers and numbers of partitions are assigned alike, so a member can join
records of one key. Static members are sorted by instance id, so that a member that returns with
another member id gets the same range.
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
    order = sorted(members, key=lambda one: _order(one, members[one]))
    for topic_id, member_ids in subscribers_of_topics(members, order).items():
        least, longer = divmod(partition_counts[topic_id], len(member_ids))
        start = 0
        for number in range(len(member_ids) if least else longer):
            end = start + least + (number < longer)
            assigned[member_ids[number]][topic_id] = frozenset(range(start, end))
            start = end
    return dict(assigned)


def _order(member_id: str, member: AssignedMember) -> tuple[bool, str]:
    """Static members come first."""
    if member.instance_id is None:
        return True, member_id
    return False, member.instance_id
