"""ClassicGroup: a group whose leader, a client, assigns the partitions.

A simple group, which has committed offsets and never had members, is a classic group, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from domain.errors import (
    CoordinatorNotAvailable,
    FencedInstanceId,
    GroupIdNotFound,
    IllegalGeneration,
    NonEmptyGroup,
    RebalanceInProgress,
    UnknownMemberId,
)
from domain.groups.classic.changes import GroupMetadataChanged, Image
from domain.groups.classic.group_state import ClassicGroupState
from domain.groups.classic.states import State
from domain.groups.embedded_protocol import (
    CONSUMER,
    Unreadable,
    read_assignment,
    subscribed_topics,
)
from domain.groups.group import GroupChange, GroupDeleted, GroupMember
from domain.topics.topic import Topic


class ClassicGroup(ClassicGroupState):
    __slots__ = ()

    # ---- properties

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return self.state is State.EMPTY

    def assignor(self, allowed: Sequence[str]) -> str:
        return (self.protocol_name or "") if self.state is State.STABLE else ""

    def assigned_members(
        self, topic_by_id: Callable[[bytes], Topic | None]
    ) -> Iterator[GroupMember]:
        # During a rebalance the old assignment is no longer valid.
        assigns = self.state is State.STABLE and self.protocol_type == CONSUMER
        for member_id in sorted(self.members):
            member = self.members[member_id]
            yield GroupMember(
                member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                _assigned(member.assignment) if assigns else {},
            )

    @property
    def all_have_joined(self) -> bool:
        return self.joining == len(self.members) and not self.pending

    def check_member(self, member_id: str, instance_id: str | None) -> None:
        if instance_id is not None:
            known_id = self.static_members.get(instance_id)
            if known_id is None:
                raise UnknownMemberId()
            if known_id != member_id:
                raise FencedInstanceId()
        if member_id not in self.members:
            raise UnknownMemberId()

    def check_heartbeat(self, member_id: str, instance_id: str | None, generation_id: int) -> None:
        """Raises unless the request is from a member of this generation."""
        self.check_member(member_id, instance_id)
        if generation_id != self.generation_id:
            raise IllegalGeneration()

    def check_commit(
        self, member_id: str, instance_id: str | None, epoch: int, knows_epochs: bool
    ) -> None:
        self.check_transactional_commit(member_id, instance_id, epoch)
        if self.state is State.EMPTY:
            return
        if epoch < 0 and not member_id and instance_id is None:
            raise UnknownMemberId()
        if self.state is State.COMPLETING_REBALANCE:
            raise RebalanceInProgress()

    def check_transactional_commit(
        self, member_id: str, instance_id: str | None, epoch: int
    ) -> None:
        if self.state is State.DEAD:
            raise CoordinatorNotAvailable()
        if epoch < 0 and (self.state is State.EMPTY or (not member_id and instance_id is None)):
            return
        self.check_heartbeat(member_id, instance_id, epoch)

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        if self.state is State.DEAD:
            raise GroupIdNotFound(f"Group {self.group_id} is in dead state.")

    def renew_session(self, member_id: str, now_ms: int) -> None:
        member = self.members.get(member_id)
        if member is not None and self.state is not State.COMPLETING_REBALANCE:
            member.renew(now_ms)

    def responded_late(self, member_id: str, now_ms: int) -> None:
        member = self.members.get(member_id)
        if member is not None and not member.is_new:
            member.renew(now_ms)

    def check_delete(self) -> None:
        if self.state is State.DEAD:
            raise GroupIdNotFound(f"Group {self.group_id} is in dead state.")
        if self.state is not State.EMPTY:
            raise NonEmptyGroup()

    def deletion(self) -> list[GroupChange]:
        return [GroupMetadataChanged(self.group_id, None), GroupDeleted(self.group_id)]

    @property
    def topics(self) -> frozenset[str] | None:
        """Subscribed topics of all members; None if their metadata does not name topics."""
        if self.unread is not None:
            self._topics = _topics_of(self.unread)
            self.unread = None
        return self._topics

    def subscribes(self, topic: str) -> bool:
        if self.topics is None:
            return self.protocol_type == CONSUMER
        return topic in self.topics

    def offsets_expire_from(self, topic: str, committed_ms: int) -> int | None:
        if not self.protocol_type:
            return committed_ms
        if self.state is State.EMPTY:
            return committed_ms if self.since_ms is None else self.since_ms
        if self.state is State.STABLE and self.topics is not None and topic not in self.topics:
            return committed_ms
        return None

    # ---- time

    def deadlines(self) -> Iterator[int]:
        """All times at which a timeout may expire."""
        yield from self.pending.values()
        for member in self.members.values():
            if member.session_deadline_ms is not None and member.may_expire:
                yield member.session_deadline_ms
        if self.join_deadline_ms is not None:
            yield self.join_deadline_ms
        if self.sync_deadline_ms is not None:
            yield self.sync_deadline_ms

    def next_deadline(self) -> int | None:
        return min(self.deadlines(), default=None)

    # ---- persisted state

    def image(self, now_wall_ms: int) -> Image:
        return Image(
            self.generation_id,
            self.protocol_type,
            self.protocol_name,
            self.leader,
            now_wall_ms,
            tuple(member.image() for member in self.members.values()),
            self.state is State.STABLE,
        )


def _topics_of(image: Image) -> frozenset[str] | None:
    if image.protocol_type != CONSUMER:
        return None
    topics: set[str] = set()
    for metadata in {
        dict(one.protocols).get(image.protocol_name or "", b"") for one in image.members
    }:
        read = subscribed_topics(metadata)
        if read is None:
            return None
        topics |= read
    return frozenset(topics)


def _assigned(assignment: bytes) -> dict[str, tuple[int, ...]]:
    """Empty if the assignment is not in the format of consumers."""
    try:
        partitions = read_assignment(assignment).partitions
    except Unreadable:
        return {}
    return {topic: tuple(sorted(partitions[topic])) for topic in sorted(partitions)}
