"""Target assignment: the result of the assignor at a group epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from domain.groups.consumer.assignors import range as range_assignor
from domain.groups.consumer.assignors import uniform
from domain.groups.consumer.assignors.assignor import NO_PARTITIONS, AssignedMember, Assignor
from domain.groups.consumer.changes import TargetChanged, TargetEpochChanged
from domain.groups.consumer.draft import Draft
from domain.groups.consumer.subscription import Topics, names_of, subscribed_topics

#: By the names that clients use.
ASSIGNORS: Mapping[str, Assignor] = {"uniform": uniform.assign, "range": range_assignor.assign}


class GroupRules(NamedTuple):
    """Settings of the broker for consumer groups."""

    max_size: int
    #: Names of assignors; the first is the default.
    assignors: tuple[str, ...]
    #: group.consumer.migration.policy, and the size limit of classic groups.
    may_upgrade: bool
    may_downgrade: bool
    classic_max_size: int


def update_target(draft: Draft, topics: Topics, rules: GroupRules) -> None:
    """Calls the assignor; changes only the targets that differ."""
    members: dict[str, AssignedMember] = {}
    targets = dict(draft.targets.items())
    partition_counts: dict[bytes, int] = {}
    # Most members of a group subscribe to the same topics.
    known: dict[tuple[frozenset[str], frozenset[str]], frozenset[bytes]] = {}
    for member_id, member in draft.members.items():
        subscribed = (member.topics, names_of(member.regex, draft.regexes))
        topic_ids = known.get(subscribed)
        if topic_ids is None:
            found = subscribed_topics(member, draft.regexes, topics)
            topic_ids = known[subscribed] = frozenset(found)
            for one in found.keys() - partition_counts.keys():
                partition_counts[one] = len(found[one].partition_ids)
        members[member_id] = AssignedMember(
            member.instance_id, topic_ids, targets.get(member_id, NO_PARTITIONS)
        )
    assigned = ASSIGNORS[draft.assignor(rules.assignors)](members, partition_counts)
    for member_id, partitions in assigned.items():
        if targets.get(member_id) != partitions:
            draft.change(TargetChanged(draft.group_id, member_id, partitions))
    draft.change(TargetEpochChanged(draft.group_id, draft.epoch))
