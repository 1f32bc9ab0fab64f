"""A group with members that becomes one of the other kind, and goes on where it was.

upgrade     a member of the consumer protocol joins a classic group: generation and assignments
            become epochs and assignments; its members go on as they are, one after the other
downgrade   the last member of the consumer protocol goes: the epoch becomes a generation, and
            a rebalance begins
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from domain.errors import GroupIdNotFound
from domain.groups.classic.changes import GroupMetadataChanged, Image, Now, RebalanceStarted
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.member import ClassicMember, MemberImage, elected_protocol
from domain.groups.consumer.assignors.assignor import Partitions
from domain.groups.consumer.changes import (
    AssignmentChanged,
    EpochChanged,
    MemberChanged,
    TargetChanged,
    TargetEpochChanged,
)
from domain.groups.consumer.draft import Draft
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.leave import remove
from domain.groups.consumer.member import (
    ClassicMembership,
    CurrentAssignment,
    MemberState,
    MemberSubscription,
)
from domain.groups.consumer.subscription import Topics, hash_of_topics
from domain.groups.consumer.target import GroupRules
from domain.groups.embedded_protocol import (
    CONSUMER,
    NamedPartitions,
    Unreadable,
    read_assignment,
    read_subscription,
    write_assignment,
)
from domain.groups.group import Decision


def upgrade(group: ClassicGroup, topics: Topics, rules: GroupRules) -> Draft:
    """The consumer group that the classic one becomes. GroupIdNotFound: it may not."""
    draft = Draft(ConsumerGroup(group.group_id))
    draft.changes += group.deletion()
    if group.is_empty:
        return draft
    _check_upgrade(group, rules)
    try:
        for member in group.members.values():
            _upgrade_member(draft, group, member, topics)
    except Unreadable as damage:
        raise _no_upgrade(
            group.group_id, "the embedded consumer protocol is malformed."
        ) from damage
    names = draft.subscribed_names()
    # Unassigned partitions may be newer than the leader's assignment: a target is made at once.
    topics_hash = hash_of_topics(names, topics) if _is_shared_out(draft, names, topics) else ""
    draft.change(TargetEpochChanged(group.group_id, group.generation_id))
    draft.change(EpochChanged(group.group_id, group.generation_id, topics_hash))
    return draft


def _check_upgrade(group: ClassicGroup, rules: GroupRules) -> None:
    """With Kafka's words."""
    why = None
    if not rules.may_upgrade:
        why = "online upgrade is disabled"
    elif group.protocol_type != CONSUMER:
        why = "the group does not use the consumer embedded protocol"
    elif len(group.members) > rules.max_size:
        why = "the group size exceeds the consumer group maximum size"
    if why is not None:
        raise _no_upgrade(group.group_id, f"{why}.")


def _is_shared_out(draft: Draft, names: Iterable[str], topics: Topics) -> bool:
    found = [topic for topic in map(topics.topic, names) if topic is not None]
    return all(
        draft.owner(topic.topic_id, one) is not None
        for topic in found
        for one in range(len(topic.partition_ids))
    )


def _upgrade_member(
    draft: Draft, group: ClassicGroup, member: ClassicMember, topics: Topics
) -> None:
    group_id, member_id, epoch = group.group_id, member.member_id, group.generation_id
    assignment = read_assignment(member.assignment)
    if assignment.has_user_data:
        raise _no_upgrade(
            group_id,
            "an unsupported custom assignor is in use. Please refer to the documentation or "
            "switch to a default assignor before re-attempting the upgrade.",
        )
    subscription = read_subscription(_metadata(group, member))
    changed = MemberSubscription(
        member_id,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topics=subscription.topics,
        classic=ClassicMembership(member.session_timeout_ms, member.protocols),
    )
    has = _not_taken(draft, partitions_by_id(assignment.partitions, topics))
    current = CurrentAssignment(MemberState.STABLE, epoch, epoch, has)
    draft.change(MemberChanged(group_id, member_id, changed))
    draft.change(TargetChanged(group_id, member_id, has))
    draft.change(AssignmentChanged(group_id, member_id, current))


def _metadata(group: ClassicGroup, member: ClassicMember) -> bytes:
    """It may have joined again since, and not know the group's protocol any more."""
    named = dict(member.protocols)
    return named.get(group.protocol_name or "", member.protocols[0][1])


def _not_taken(draft: Draft, partitions: Partitions) -> Partitions:
    """A client's assignor may have given one partition to two: then the second one loses it."""
    free = {
        topic_id: frozenset(one for one in ones if draft.owner(topic_id, one) is None)
        for topic_id, ones in partitions.items()
    }
    return {topic_id: ones for topic_id, ones in free.items() if ones}


def _no_upgrade(group_id: str, why: str) -> GroupIdNotFound:
    return GroupIdNotFound(
        f"Cannot upgrade classic group {group_id} to consumer group because {why}"
    )


def remove_members(
    group: ConsumerGroup,
    member_ids: Collection[str],
    topics: Topics,
    rules: GroupRules,
    now: Now,
) -> Decision:
    """They leave, or are removed; without them the group may become a classic one."""
    if can_downgrade(group, member_ids, rules):
        return downgrade(group, group, member_ids, topics, now, rebalances=True)
    return remove(group, member_ids, topics)


def can_downgrade(group: ConsumerGroup, leaving: Collection[str], rules: GroupRules) -> bool:
    """Whether only members of the classic protocol stay, and not too many."""
    return (
        rules.may_downgrade
        and 0 < len(group.members) - len(leaving) <= rules.classic_max_size
        and all(
            one.classic is not None
            for member_id, one in group.members.items()
            if member_id not in leaving
        )
    )


def downgrade(
    group: ConsumerGroup,
    becoming: ConsumerGroup,
    leaving: Collection[str],
    topics: Topics,
    now: Now,
    rebalances: bool,
) -> Decision:
    """The group is a classic one, in the generation of its epoch. `becoming` has its members."""
    members = tuple(
        _downgraded_member(becoming, member, topics)
        for member_id, member in becoming.members.items()
        if member_id not in leaving and member.classic is not None
    )
    image = Image(
        group.epoch,
        CONSUMER,
        elected_protocol(ClassicMember(one) for one in members),
        members[0].member_id,
        now.wall_ms,
        members,
        True,
    )
    changes = [*group.deletion(), GroupMetadataChanged(group.group_id, image)]
    if rebalances:
        deadline_ms = now.monotonic_ms + max(one.rebalance_timeout_ms for one in members)
        changes.append(RebalanceStarted(group.group_id, deadline_ms))
    return Decision(changes)


def _downgraded_member(
    group: ConsumerGroup, member: MemberSubscription, topics: Topics
) -> MemberImage:
    assert member.classic is not None
    has = group.current(member.member_id).assigned
    return MemberImage(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.classic.session_timeout_ms,
        member.classic.protocols,
        embedded_assignment(member.classic, has, topics),
    )


def embedded_assignment(classic: ClassicMembership, has: Partitions, topics: Topics) -> bytes:
    """In the version in which the member said what it wants."""
    version = read_subscription(classic.protocols[0][1]).version
    return write_assignment(version, partitions_by_name(has, topics))


def partitions_by_id(partitions: NamedPartitions, topics: Topics) -> Partitions:
    """Without topics that do not exist."""
    found = {name: topics.topic(name) for name in partitions}
    return {
        topic.topic_id: frozenset(partitions[name])
        for name, topic in found.items()
        if topic is not None and partitions[name]
    }


def partitions_by_name(partitions: Partitions, topics: Topics) -> Mapping[str, list[int]]:
    found = {topic_id: topics.topic_by_id(topic_id) for topic_id in partitions}
    return {
        topic.name: sorted(partitions[topic_id])
        for topic_id, topic in found.items()
        if topic is not None
    }
