"""Log lines about groups: start, reason and end of each rebalance, and removed members.

Logged when the change is decided, as in Kafka.
"""

from __future__ import annotations

from typing import NamedTuple

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


class Reason(NamedTuple):
    """Why a group rebalances: a reason of `group_rebalancing`, and the member that caused it."""

    key: str
    member_id: str | None = None

    def fields(self) -> dict[str, str]:
        reason = {"reason": self.key}
        return reason if self.member_id is None else reason | {"member_id": self.member_id}


class GroupLog:
    def __init__(self, events: EventLog) -> None:
        self._events = events

    def members_changed(self, group: Group, changes: Changes, now_ms: int) -> Reason:
        """Logs removed members, before the changes are applied.

        Returns the reason of the rebalance that the changes may start.
        """
        removed: dict[str, dict[str, str]] = {}
        is_consumer = isinstance(group, ConsumerGroup)
        reason = Reason("subscribed_topics_changed" if is_consumer else "assignment_too_large")
        for change in changes:
            if isinstance(change, MemberJoined):
                known = change.member.member_id in group.members
                key = "member_rejoined" if known else "member_joined"
                reason = Reason(key, change.member.member_id)
            elif isinstance(change, MemberReplaced):
                removed[change.old_id] = _replaced(change.member.member_id)
            elif isinstance(change, MemberRemoved):
                removed[change.member_id] = {"reason": change.reason}
            elif isinstance(change, MemberChanged):
                if change.subscription is None:
                    removal_reason = _removal_reason(group, change.member_id, now_ms)
                    removed[change.member_id] = {"reason": removal_reason}
                    continue
                known = change.member_id in group.members
                key = "subscription_changed" if known else "member_joined"
                reason = Reason(key, change.member_id)
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
                "member_removed",
                group=group.group_id,
                member_id=member_id,
                client_id=member.client_id,
                host=member.client_host,
                **removed[member_id],
            )
            reason = Reason("member_removed", member_id)
        return reason

    def rebalance(self, group: Group, changes: Changes, reason: Reason) -> None:
        """Logs changes of the generation or the group epoch, after they are applied."""
        kinds = {type(change) for change in changes}
        name, members = group.group_id, len(group.members)
        if isinstance(group, ConsumerGroup):
            if EpochChanged in kinds:
                self._events.info(
                    "group_epoch_bumped",
                    group=name,
                    epoch=group.epoch,
                    members=members,
                    **reason.fields(),
                )
        elif isinstance(group, ClassicGroup):
            generation = group.generation_id
            if RebalanceStarted in kinds and members:
                self._events.info(
                    "group_rebalancing",
                    group=name,
                    generation=generation - (GenerationStarted in kinds),
                    members=members,
                    **reason.fields(),
                )
            elif RebalanceStarted in kinds:
                self._events.info(
                    "group_empty", group=name, generation=generation, **reason.fields()
                )
            if GenerationStarted in kinds:
                self._events.info(
                    "group_stabilized", group=name, generation=generation, members=members
                )


def _replaced(member_id: str) -> dict[str, str]:
    return {"reason": "replaced", "replaced_by": member_id}


def _removal_reason(group: Group, member_id: str, now_ms: int) -> str:
    if isinstance(group, ConsumerGroup):
        overdue = group.timeouts.overdue(member_id, now_ms)
        if overdue is not None:
            return overdue.value
    return LEFT
