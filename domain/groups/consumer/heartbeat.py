"""What a heartbeat of a member changes: it joins or stays, and is led one step further.

    1  the member, new or as it says it is now
    2  the group epoch, when subscriptions or topics have changed
    3  the target, when the group epoch is ahead of it
    4  the member's assignment, when the target is not reached

A member that leaves only raises the group epoch; the next heartbeat of another makes the target.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from domain.errors import (
    FencedInstanceId,
    FencedMemberEpoch,
    GroupMaxSizeReached,
    UnknownMemberId,
    UnreleasedInstanceId,
)
from domain.groups.consumer.assignors.assignor import Partitions
from domain.groups.consumer.changes import (
    AssignmentChanged,
    EpochChanged,
    MemberChanged,
    RegexResolved,
    TargetChanged,
)
from domain.groups.consumer.draft import Draft
from domain.groups.consumer.group import JUST_JOINED, ConsumerGroup, departure
from domain.groups.consumer.heartbeat_request import Heartbeat
from domain.groups.consumer.member import (
    JOINS,
    LEAVES_STATIC,
    CurrentAssignment,
    MemberSubscription,
    is_within,
)
from domain.groups.consumer.reconciliation import reconcile
from domain.groups.consumer.subscription import Regexes, Topics, hash_of_topics, subscribed_topics
from domain.groups.consumer.target import GroupRules, update_target
from domain.groups.group import Decision


class HeartbeatResult(NamedTuple):
    member_id: str
    epoch: int
    #: None: as it was.
    assignment: Partitions | None = None


class SubscriptionUpdate(NamedTuple):
    """What is different from the member's subscription before."""

    #: The names, or the regular expression, which is now one of other members too, or none.
    names: bool = False
    anything: bool = False


class GroupContext(NamedTuple):
    """What a decision is made with, besides the group and the request."""

    topics: Topics
    regexes: Regexes
    rules: GroupRules


def respond_if_unchanged(
    group: ConsumerGroup, heartbeat: Heartbeat, context: GroupContext
) -> HeartbeatResult | None:
    """The answer to a heartbeat that changes nothing, as nearly all do."""
    if heartbeat.epoch <= JOINS or topics_changed(group, context):
        return None
    member = group.members.get(heartbeat.member_id)
    if member is None or group.epoch != group.target_epoch:
        return None
    current = group.current(heartbeat.member_id)
    if heartbeat.epoch != current.epoch or not current.is_reconciled_to(group.target_epoch):
        return None
    if heartbeat.instance_id != member.instance_id or heartbeat.applied_to(member) != member:
        return None
    assignment = current.assigned if heartbeat.is_full else None
    return HeartbeatResult(member.member_id, current.epoch, assignment)


def beat(draft: Draft, heartbeat: Heartbeat, context: GroupContext) -> Decision:
    check_group_size(draft, heartbeat.member_id, context.rules)
    member = member_of(draft, heartbeat)
    before = draft.current(member.member_id)
    updated = update_member(draft, member, heartbeat.applied_to(member), context)
    update_epoch(draft, updated.names or draft.epoch == 0, context)
    if draft.epoch > draft.target_epoch:
        update_target(draft, context.topics, context.rules)
    current = reconcile_member(
        draft, member.member_id, heartbeat.owned, updated.anything, context.topics
    )
    show = heartbeat.epoch == JOINS or heartbeat.is_full or current.assigned != before.assigned
    assignment = current.assigned if show else None
    return draft.decision(HeartbeatResult(member.member_id, current.epoch, assignment))


# 1: who it is


def check_group_size(group: ConsumerGroup, member_id: str, rules: GroupRules) -> None:
    if len(group.members) >= rules.max_size and member_id not in group.members:
        raise GroupMaxSizeReached(
            f"The consumer group has reached its maximum capacity of {rules.max_size} members."
        )


def member_of(draft: Draft, heartbeat: Heartbeat) -> MemberSubscription:
    member_id, instance_id = heartbeat.member_id, heartbeat.instance_id
    if instance_id is None:
        if heartbeat.epoch == JOINS:
            return draft.members.get(member_id) or MemberSubscription(member_id)
        member = draft.member(member_id)
    else:
        if heartbeat.epoch == JOINS:
            return static_member_joining(draft, member_id, instance_id, in_classic=False)
        member = static_member_known(draft, member_id, instance_id)
    _check_epoch(draft.current(member_id), heartbeat)
    return member


def static_member_joining(
    draft: Draft, member_id: str, instance_id: str, in_classic: bool
) -> MemberSubscription:
    """It is new, or takes the place of the one before it, with all that one had."""
    before = draft.static_member(instance_id)
    if before is None:
        return draft.members.get(member_id) or MemberSubscription(member_id)
    had = draft.current(before.member_id)
    if not in_classic and before.classic is None and had.epoch != LEAVES_STATIC:
        raise UnreleasedInstanceId(
            f"Static member {member_id} with instance id {instance_id} cannot join the group "
            f"because the instance id is owned by {before.member_id} member."
        )
    member = before._replace(member_id=member_id)
    target = draft.target(before.member_id)
    for change in departure(draft.group_id, before.member_id):
        draft.change(change)
    draft.change(MemberChanged(draft.group_id, member_id, member))
    draft.change(TargetChanged(draft.group_id, member_id, target))
    restarted = had._replace(epoch=0, previous_epoch=0)
    draft.change(AssignmentChanged(draft.group_id, member_id, restarted))
    return member


def static_member_known(
    group: ConsumerGroup, member_id: str, instance_id: str
) -> MemberSubscription:
    member = group.static_member(instance_id)
    if member is None:
        raise UnknownMemberId(f"Instance id {instance_id} is unknown.")
    check_instance(member, member_id)
    return member


def check_instance(member: MemberSubscription, member_id: str) -> None:
    if member.member_id != member_id:
        raise FencedInstanceId(
            f"Static member {member_id} with instance id {member.instance_id} was fenced by "
            f"member {member.member_id}."
        )


def _check_epoch(current: CurrentAssignment, heartbeat: Heartbeat) -> None:
    if heartbeat.epoch > current.epoch:
        raise FencedMemberEpoch(
            f"The consumer group member has a greater member epoch ({heartbeat.epoch}) than the "
            f"one known by the group coordinator ({current.epoch}). The member must abandon all "
            "its partitions and rejoin."
        )
    if heartbeat.epoch < current.epoch:
        # The response with its new epoch may have been lost.
        missed_one = heartbeat.epoch == current.previous_epoch
        if not missed_one or heartbeat.owned is None:
            raise _fenced_below(current, heartbeat)
        if not is_within(heartbeat.owned, current.assigned):
            raise _fenced_below(current, heartbeat)


def _fenced_below(current: CurrentAssignment, heartbeat: Heartbeat) -> FencedMemberEpoch:
    return FencedMemberEpoch(
        f"The consumer group member has a smaller member epoch ({heartbeat.epoch}) than the one "
        f"known by the group coordinator ({current.epoch}). The member must abandon all its "
        "partitions and rejoin."
    )


def update_member(
    draft: Draft, member: MemberSubscription, updated: MemberSubscription, context: GroupContext
) -> SubscriptionUpdate:
    known = draft.members.get(member.member_id) == updated
    if not known:
        draft.change(MemberChanged(draft.group_id, member.member_id, updated))
    names_changed = member.topics != updated.topics
    if (member.regex or None) == (updated.regex or None):
        return SubscriptionUpdate(names=names_changed, anything=names_changed)
    forget_unused_regexes(draft, {member.regex})
    if not updated.regex or updated.regex in draft.regexes:
        return SubscriptionUpdate(names=True, anything=True)
    context.regexes.check(updated.regex)
    return SubscriptionUpdate(names=names_changed, anything=True)


def forget_unused_regexes(draft: Draft, regexes: Collection[str | None]) -> None:
    for regex in regexes:
        if regex and regex not in draft.used_regexes and regex in draft.regexes:
            draft.change(RegexResolved(draft.group_id, regex, None))


# 2: the group epoch


def topics_changed(group: ConsumerGroup, context: GroupContext) -> bool:
    return group.seen_revision != context.topics.layout_revision


def update_epoch(draft: Draft, subscriptions_changed: bool, context: GroupContext) -> None:
    """Raises it when the subscriptions changed, or the topics that they mean.

    As in Kafka, which resolves regular expressions some time after a member has joined, they raise
    it by themselves.
    """
    look = topics_changed(draft, context)
    regexes = [one for one in draft.used_regexes if look or one not in draft.regexes]
    rise = subscriptions_changed + (bool(regexes) and _resolve(draft, regexes, context))
    if not rise and not look:
        return
    topics_hash = hash_of_topics(draft.subscribed_names(), context.topics)
    if rise or topics_hash != draft.topics_hash:
        draft.change(EpochChanged(draft.group_id, draft.epoch + (rise or 1), topics_hash))


def _resolve(draft: Draft, regexes: Collection[str], context: GroupContext) -> bool:
    """Whether one matches other topics than before. Unresolved ones match what they did."""
    changed = False
    for regex, names in context.regexes.resolve(regexes).items():
        before = draft.regexes.get(regex)
        if names != before:
            draft.change(RegexResolved(draft.group_id, regex, names))
            changed |= bool(names or before)
    return changed


# 4: the member's assignment


def reconcile_member(
    draft: Draft,
    member_id: str,
    owned: Partitions | None,
    subscription_changed: bool,
    topics: Topics,
) -> CurrentAssignment:
    before = draft.current(member_id)
    if not subscription_changed and before.is_reconciled_to(draft.target_epoch):
        return before
    current = reconcile(
        before,
        draft.target_epoch,
        draft.target(member_id),
        subscribed_topics(draft.members[member_id], draft.regexes, topics),
        owned,
        lambda topic_id, one: draft.owner(topic_id, one) not in (None, member_id),
        subscription_changed,
    )
    if current != before or before is JUST_JOINED:
        draft.change(AssignmentChanged(draft.group_id, member_id, current))
    return current
