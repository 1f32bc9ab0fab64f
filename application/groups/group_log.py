"""Log lines about groups: start, reason and end of each rebalance, and removed members.

Logged when the change is decided, as in Kafka.
"""

from __future__ import annotations

from application.ports.event_log import EventLog
from domain.groups.classic.changes import (
    GenerationStarted,
    GroupMetadataChanged,
    MemberJoined,
    MemberRemoved,
    MemberReplaced,
    RebalanceStarted,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.changes import EpochChanged, MemberChanged
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.group import LEFT, Changes, Group


class GroupLog:
    def __init__(self, events: EventLog) -> None:
        self._events = events

    def members_changed(self, group: Group, changes: Changes, now_ms: int) -> str:
        """Logs removed members, before the changes are applied.

        Returns the reason of the rebalance that the changes may start.
        """
        removed: dict[str, str] = {}
        is_consumer = isinstance(group, ConsumerGroup)
        reason = "subscribed topics changed" if is_consumer else "assignment too large"
        for change in changes:
            if isinstance(change, MemberJoined):
                known = change.member.member_id in group.members
                reason = f"member {change.member.member_id} {'rejoined' if known else 'joined'}"
            elif isinstance(change, MemberReplaced):
                removed[change.old_id] = _replaced(change.member.member_id)
            elif isinstance(change, MemberRemoved):
                removed[change.member_id] = change.reason
            elif isinstance(change, MemberChanged):
                if change.subscription is None:
                    removed[change.member_id] = _removal_reason(group, change.member_id, now_ms)
                    continue
                known = change.member_id in group.members
                does = "changed its subscription" if known else "joined"
                reason = f"member {change.member_id} {does}"
                old_id = group.static_members.get(change.subscription.instance_id or "", "")
                if old_id in removed:
                    removed[old_id] = _replaced(change.member_id)
            elif isinstance(change, GroupMetadataChanged) and change.image is not None:
                # A downgrade deletes the consumer group with all members; these stay.
                for member in change.image.members:
                    removed.pop(member.member_id, None)
        for member_id in filter(group.members.__contains__, removed):
            member = group.members[member_id]
            self._events.info(
                "removing member from group",
                group=group.group_id,
                member=member_id,
                client_id=member.client_id,
                host=member.client_host,
                reason=removed[member_id],
            )
            reason = f"member {member_id} removed: {removed[member_id]}"
        return reason

    def rebalance(self, group: Group, changes: Changes, reason: str) -> None:
        """Logs changes of the generation or the group epoch, after they are applied."""
        kinds = {type(change) for change in changes}
        name, members = group.group_id, len(group.members)
        if isinstance(group, ConsumerGroup):
            if EpochChanged in kinds:
                self._events.info(
                    "bumped group epoch",
                    group=name,
                    epoch=group.epoch,
                    members=members,
                    reason=reason,
                )
        elif isinstance(group, ClassicGroup):
            generation = group.generation_id
            if RebalanceStarted in kinds and members:
                self._events.info(
                    "preparing to rebalance group",
                    group=name,
                    old_generation=generation - (GenerationStarted in kinds),
                    members=members,
                    reason=reason,
                )
            elif RebalanceStarted in kinds:
                self._events.info(
                    "group is empty", group=name, generation=generation, reason=reason
                )
            if GenerationStarted in kinds:
                self._events.info(
                    "stabilized group", group=name, generation=generation, members=members
                )


def _replaced(member_id: str) -> str:
    return f"replaced by static member {member_id}"


def _removal_reason(group: Group, member_id: str, now_ms: int) -> str:
    if isinstance(group, ConsumerGroup):
        overdue = group.timeouts.overdue(member_id, now_ms)
        if overdue is not None:
            return overdue.value
    return LEFT
