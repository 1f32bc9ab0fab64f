"""ConsumerGroup: a group whose partitions the broker assigns (KIP-848).

    group epoch         rises when members, subscriptions or topics change
    target epoch        the group epoch of the target assignment
    member epoch        the target epoch that a member has reached

    Empty         there are no members
    Assigning     the group epoch is ahead of the target epoch
    Reconciling   a member has not reached its target assignment
    Stable        all members have

Every heartbeat is a step of its member: see heartbeat.py and reconciliation.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
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
from domain.groups.consumer.subscription import RefCounts
from domain.groups.consumer.timeouts import Timeouts
from domain.groups.embedded_protocol import CONSUMER
from domain.groups.group import Group, GroupChange, GroupDeleted, GroupKind, GroupMember
from domain.topics.topic import Topic

JUST_JOINED = CurrentAssignment()

#: The revision of a group that has not read the topics yet.
NEVER = -1


class ConsumerGroup(Group):
    __slots__ = (
        "currents",
        "epoch",
        "members",
        "names",
        "owners",
        "regexes",
        "seen_revision",
        "static_members",
        "target_epoch",
        "targets",
        "timeouts",
        "topics_hash",
        "used_regexes",
    )

    kind = GroupKind.CONSUMER
    protocol_type = CONSUMER

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.epoch = 0
        self.target_epoch = 0
        #: Of the topics at the last group epoch.
        self.topics_hash = ""
        self.members: MutableMapping[str, MemberSubscription] = {}
        self.currents: MutableMapping[str, CurrentAssignment] = {}
        self.targets: MutableMapping[str, Partitions] = {}
        #: Topic names by regular expression.
        self.regexes: MutableMapping[str, frozenset[str]] = {}
        #: Instance id -> member id.
        self.static_members: MutableMapping[str, str] = {}
        self.owners: MutableMapping[tuple[bytes, int], str] = {}
        #: Of all subscriptions and resolved regular expressions.
        self.names: RefCounts[frozenset[str]] = RefCounts({})
        self.used_regexes: RefCounts[str] = RefCounts({})
        # Not persisted.
        self.timeouts = Timeouts()
        self.seen_revision = NEVER

    # ---- changes

    def apply(self, change: GroupChange) -> None:
        self._APPLY[type(change)](self, change)

    def _apply_epoch(self, change: EpochChanged) -> None:
        self.epoch = change.epoch or 0
        self.topics_hash = change.topics_hash

    def _apply_member(self, change: MemberChanged) -> None:
        member_id, subscription = change.member_id, change.subscription
        before = self.members.pop(member_id, None)
        if before is not None:
            self.names.leave(before.topics)
            if before.regex:
                self.used_regexes.leave(before.regex)
            if self.static_members.get(before.instance_id or "") == member_id:
                del self.static_members[before.instance_id or ""]
        if subscription is None:
            self.timeouts.forget(member_id)
            return
        topics = self.names.use(subscription.topics)
        if subscription.regex:
            self.used_regexes.use(subscription.regex)
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
            for partition in _partitions(before):
                del self.owners[partition]
        if current is not None:
            self.currents[member_id] = current
            for partition in _partitions(current):
                assert partition not in self.owners, f"{partition} would have two owners"
                self.owners[partition] = member_id

    def _apply_regex(self, change: RegexResolved) -> None:
        before = self.regexes.get(change.regex)
        if change.names is not None:
            self.regexes[change.regex] = self.names.use(change.names)
        else:
            self.regexes.pop(change.regex, None)
        if before is not None:
            self.names.leave(before)

    _APPLY: ClassVar[dict[type[GroupChange], Callable[[Any, Any], None]]] = {
        EpochChanged: _apply_epoch,
        MemberChanged: _apply_member,
        TargetEpochChanged: _apply_target_epoch,
        TargetChanged: _apply_target,
        AssignmentChanged: _apply_assignment,
        RegexResolved: _apply_regex,
        GroupDeleted: lambda group, change: None,
    }

    # ---- properties

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
    def is_empty(self) -> bool:
        return not self.members

    def assignor(self, allowed: Sequence[str]) -> str:
        """The allowed assignor that most members name."""
        named = Counter(
            one.server_assignor for one in self.members.values() if one.server_assignor in allowed
        )
        if not named:
            return allowed[0]
        return min(named, key=lambda name: (-named[name], name or "")) or allowed[0]

    def assigned_members(
        self, topic_by_id: Callable[[bytes], Topic | None]
    ) -> Iterator[GroupMember]:
        for member_id in sorted(self.members):
            member = self.members[member_id]
            found = (
                (topic_by_id(one), ones) for one, ones in self.current(member_id).assigned.items()
            )
            # Without deleted topics, which have no name.
            named = {topic.name: tuple(sorted(ones)) for topic, ones in found if topic is not None}
            yield GroupMember(
                member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                dict(sorted(named.items())),
            )

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
        return self.owners.get((topic_id, partition))

    def subscribed_names(self) -> set[str]:
        return set().union(*self.names)

    def topics_seen(self, revision: int) -> None:
        """The group epoch is up to date with this revision of the topics."""
        self.seen_revision = revision

    # ---- checks

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

    def check_transactional_commit(
        self, member_id: str, instance_id: str | None, epoch: int
    ) -> None:
        names_none = not self.members or (not member_id and instance_id is None)
        if epoch < 0 and names_none:
            return
        try:
            self._check_epoch(self.member(member_id), epoch)
        except StaleMemberEpoch as stale:
            raise IllegalGeneration(stale.message) from stale

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

    def renew_session(self, member_id: str, now_ms: int) -> None:
        """Only heartbeats renew a session in this protocol."""

    def responded_late(self, member_id: str, now_ms: int) -> None:
        """No effect in this protocol."""

    def check_delete(self) -> None:
        if self.members:
            raise NonEmptyGroup("The group is not empty.")

    def deletion(self) -> list[GroupChange]:
        changes: list[GroupChange] = []
        for member_id in self.members:
            changes += removal_changes(self.group_id, member_id)
        changes += [RegexResolved(self.group_id, regex, None) for regex in self.regexes]
        changes.append(TargetEpochChanged(self.group_id, None))
        return [*changes, EpochChanged(self.group_id, None), GroupDeleted(self.group_id)]

    def subscribes(self, topic: str) -> bool:
        return any(topic in names for names in self.names)

    def offsets_expire_from(self, topic: str, committed_ms: int) -> int | None:
        return None if self.subscribes(topic) else committed_ms


def removal_changes(group_id: str, member_id: str) -> list[GroupChange]:
    """The changes that remove a member."""
    return [
        AssignmentChanged(group_id, member_id, None),
        TargetChanged(group_id, member_id, None),
        MemberChanged(group_id, member_id, None),
    ]


def _partitions(current: CurrentAssignment) -> Iterable[tuple[bytes, int]]:
    for partitions in (current.assigned, current.revoking):
        for topic_id, ones in partitions.items():
            for one in ones:
                yield topic_id, one
