"""ConsumerGroup: a group whose partitions the broker assigns (KIP-848).

    group epoch         rises when members, subscriptions or topics change
    target epoch        the group epoch that the assignor was last asked for
    member epoch        the target epoch that a member has been led to

    Empty         nobody is a member
    Assigning     the group epoch is ahead of the target epoch
    Reconciling   a member is not where the target wants it
    Stable        all are

Every heartbeat takes its member one step further: see heartbeat.py and reconciliation.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from domain.errors import (
    IllegalGeneration,
    NonEmptyGroup,
    StaleMemberEpoch,
    UnknownMemberId,
    UnsupportedVersion,
)
from domain.groups.consumer.assignors.assignor import NO_PARTITIONS, Partitions
from domain.groups.consumer.changes import (
    AssignmentChanged,
    EpochChanged,
    MemberChanged,
    RegexResolved,
    TargetChanged,
    TargetEpochChanged,
)
from domain.groups.consumer.member import CurrentAssignment, MemberSubscription
from domain.groups.consumer.subscription import SharedNames, names_of, wanted_by_all
from domain.groups.consumer.timeouts import Timeouts
from domain.groups.group import Group, GroupChange, GroupKind

CONSUMER_PROTOCOL_TYPE = "consumer"
JUST_JOINED = CurrentAssignment()

#: In the place of a revision: topics have not been looked at.
NEVER = -1


class ConsumerGroup(Group):
    __slots__ = (
        "_names",
        "_owners",
        "currents",
        "epoch",
        "members",
        "regexes",
        "seen_revision",
        "static_members",
        "target_epoch",
        "targets",
        "timeouts",
        "topics_hash",
    )

    kind = GroupKind.CONSUMER

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.epoch = 0
        self.target_epoch = 0
        #: Of the topics that the group epoch has taken into account.
        self.topics_hash = ""
        self.members: dict[str, MemberSubscription] = {}
        self.currents: dict[str, CurrentAssignment] = {}
        self.targets: dict[str, Partitions] = {}
        self.regexes: dict[str, frozenset[str]] = {}
        #: Instance id -> member id.
        self.static_members: dict[str, str] = {}
        self._owners: dict[tuple[bytes, int], str] = {}
        #: Those of all subscriptions and regular expressions.
        self._names = SharedNames()
        # Not kept: who waits for what, and which topics have been looked at.
        self.timeouts = Timeouts()
        self.seen_revision = NEVER

    # what it became

    def apply(self, change: GroupChange) -> None:
        self._APPLY[type(change)](self, change)

    def _apply_epoch(self, change: EpochChanged) -> None:
        self.epoch = change.epoch or 0
        self.topics_hash = change.topics_hash

    def _apply_member(self, change: MemberChanged) -> None:
        member_id, subscription = change.member_id, change.subscription
        before = self.members.pop(member_id, None)
        if before is not None:
            self._names.leave(before.topics)
            if self.static_members.get(before.instance_id or "") == member_id:
                del self.static_members[before.instance_id or ""]
        if subscription is None:
            self.timeouts.forget(member_id)
            return
        topics = self._names.use(subscription.topics)
        self.members[member_id] = subscription._replace(topics=topics)
        if subscription.instance_id is not None:
            self.static_members[subscription.instance_id] = member_id

    def _apply_target_epoch(self, change: TargetEpochChanged) -> None:
        self.target_epoch = change.epoch or 0

    def _apply_target(self, change: TargetChanged) -> None:
        if change.partitions is None:
            self.targets.pop(change.member_id, None)
        else:
            self.targets[change.member_id] = change.partitions

    def _apply_assignment(self, change: AssignmentChanged) -> None:
        member_id, current = change.member_id, change.current
        before = self.currents.pop(member_id, None)
        if before is not None:
            for place in _places(before):
                del self._owners[place]
        if current is not None:
            self.currents[member_id] = current
            for place in _places(current):
                assert place not in self._owners, f"{place} would have two owners"
                self._owners[place] = member_id

    def _apply_regex(self, change: RegexResolved) -> None:
        before = self.regexes.get(change.regex)
        if change.names is not None:
            self.regexes[change.regex] = self._names.use(change.names)
        else:
            self.regexes.pop(change.regex, None)
        if before is not None:
            self._names.leave(before)

    _APPLY: ClassVar[dict[type[GroupChange], Callable[[Any, Any], None]]] = {
        EpochChanged: _apply_epoch,
        MemberChanged: _apply_member,
        TargetEpochChanged: _apply_target_epoch,
        TargetChanged: _apply_target,
        AssignmentChanged: _apply_assignment,
        RegexResolved: _apply_regex,
    }

    # what it is

    @property
    def state_name(self) -> str:
        if not self.members:
            return "Empty"
        if self.epoch > self.target_epoch:
            return "Assigning"
        if all(self.current(one).is_reconciled_to(self.target_epoch) for one in self.members):
            return "Stable"
        return "Reconciling"

    @property
    def protocol_type(self) -> str:
        return CONSUMER_PROTOCOL_TYPE

    @property
    def is_empty(self) -> bool:
        return not self.members

    def current(self, member_id: str) -> CurrentAssignment:
        return self.currents.get(member_id, JUST_JOINED)

    def target(self, member_id: str) -> Partitions:
        return self.targets.get(member_id, NO_PARTITIONS)

    def member(self, member_id: str) -> MemberSubscription:
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMemberId(f"Member {member_id} is not a member of group {self.group_id}.")
        return member

    def static_member(self, instance_id: str | None) -> MemberSubscription | None:
        if instance_id is None:
            return None
        member_id = self.static_members.get(instance_id)
        return None if member_id is None else self.members[member_id]

    def owner(self, topic_id: bytes, partition: int) -> str | None:
        return self._owners.get((topic_id, partition))

    def subscribed_names(self) -> set[str]:
        return wanted_by_all(self.members.values(), self.regexes)

    def topics_seen(self, revision: int) -> None:
        """This is what there was when it last looked."""
        self.seen_revision = revision

    def draft(self) -> Draft:
        return Draft(self)

    # what others may do

    def check_commit(
        self, member_id: str, instance_id: str | None, epoch: int, knows_epochs: bool
    ) -> None:
        if epoch < 0 and not self.members:
            return
        member = self.member(member_id)
        if member.classic is None and not knows_epochs:
            raise UnsupportedVersion(
                "OffsetCommit version 9 or above must be used by members using the modern group "
                "protocol"
            )
        self._check_epoch(member, epoch)

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        if member_id is None and epoch < 0:
            return
        self._check_epoch(self.member(member_id or ""), epoch)

    def _check_epoch(self, member: MemberSubscription, epoch: int) -> None:
        expected = self.current(member.member_id).epoch
        if epoch == expected:
            return
        if member.classic is not None:
            raise IllegalGeneration(
                f"The received generation id {epoch} does not match the expected member epoch "
                f"{expected}."
            )
        raise StaleMemberEpoch(
            f"The received member epoch {epoch} does not match the expected member epoch "
            f"{expected}."
        )

    def heard_from(self, member_id: str, now_ms: int) -> None:
        """Only heartbeats count in this protocol."""

    def check_delete(self) -> None:
        if self.members:
            raise NonEmptyGroup("The group is not empty.")

    def deletion(self) -> list[GroupChange]:
        changes: list[GroupChange] = []
        for member_id in self.members:
            changes += departure(self.group_id, member_id)
        changes += [RegexResolved(self.group_id, regex, None) for regex in self.regexes]
        changes.append(TargetEpochChanged(self.group_id, None))
        changes.append(EpochChanged(self.group_id, None))
        return changes

    def subscribes(self, topic: str) -> bool:
        return any(
            topic in one.topics or topic in names_of(one.regex, self.regexes)
            for one in self.members.values()
        )

    def offsets_expire_from(self, topic: str, committed_ms: int) -> int | None:
        return None if self.subscribes(topic) else committed_ms


class Draft(ConsumerGroup):
    """A copy on which a decision is tried, step by step: its changes are the decision."""

    __slots__ = ("changes",)

    def __init__(self, group: ConsumerGroup) -> None:
        super().__init__(group.group_id)
        self.epoch = group.epoch
        self.target_epoch = group.target_epoch
        self.topics_hash = group.topics_hash
        self.members = group.members.copy()
        self.currents = group.currents.copy()
        self.targets = group.targets.copy()
        self.regexes = group.regexes.copy()
        self.static_members = group.static_members.copy()
        self._owners = group._owners.copy()
        self._names = group._names.copy()
        self.seen_revision = group.seen_revision
        self.changes: list[GroupChange] = []

    def change(self, change: GroupChange) -> None:
        self.apply(change)
        self.changes.append(change)


def departure(group_id: str, member_id: str) -> list[GroupChange]:
    """Nothing of the member is left."""
    return [
        AssignmentChanged(group_id, member_id, None),
        TargetChanged(group_id, member_id, None),
        MemberChanged(group_id, member_id, None),
    ]


def _places(current: CurrentAssignment) -> Iterable[tuple[bytes, int]]:
    for partitions in (current.assigned, current.revoking):
        for topic_id, ones in partitions.items():
            for one in ones:
                yield topic_id, one
