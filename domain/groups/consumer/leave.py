"""Members that leave a consumer group, or are taken out of it."""

from __future__ import annotations

from collections.abc import Collection

from domain.groups.consumer.changes import AssignmentChanged, EpochChanged
from domain.groups.consumer.draft import Draft
from domain.groups.consumer.group import ConsumerGroup, departure
from domain.groups.consumer.heartbeat import (
    HeartbeatResult,
    forget_unused_regexes,
    static_member_known,
)
from domain.groups.consumer.heartbeat_request import Heartbeat
from domain.groups.consumer.member import LEAVES_STATIC, MemberSubscription
from domain.groups.consumer.subscription import Topics, hash_of_topics
from domain.groups.group import Decision


def leaving_member(group: ConsumerGroup, heartbeat: Heartbeat) -> MemberSubscription:
    if heartbeat.instance_id is None:
        return group.member(heartbeat.member_id)
    return static_member_known(group, heartbeat.member_id, heartbeat.instance_id)


def leave_static(group: ConsumerGroup, member: MemberSubscription) -> Decision:
    """Its partitions stay its own until it is back under another member id, or its session ends."""
    draft = Draft(group)
    current = draft.current(member.member_id)._replace(epoch=LEAVES_STATIC, revoking={})
    draft.change(AssignmentChanged(draft.group_id, member.member_id, current))
    return draft.decision(HeartbeatResult(member.member_id, LEAVES_STATIC))


def remove(group: ConsumerGroup, member_ids: Collection[str], topics: Topics) -> Decision:
    """Only raises the group epoch: the next heartbeat of another member makes the new target."""
    draft = Draft(group)
    regexes = {draft.members[member_id].regex for member_id in member_ids}
    for member_id in member_ids:
        for change in departure(draft.group_id, member_id):
            draft.change(change)
    forget_unused_regexes(draft, regexes)
    topics_hash = hash_of_topics(draft.subscribed_names(), topics)
    draft.change(EpochChanged(draft.group_id, draft.epoch + 1, topics_hash))
    return draft.decision()
