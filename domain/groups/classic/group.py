"""ClassicGroup: its clients agree among themselves who reads what, and the broker counts how often.

A rebalance: everybody joins (PreparingRebalance); one of them, the leader, is told who has joined,
decides who reads what, and everybody fetches its share (CompletingRebalance); then all work
(Stable), until a member comes, changes or goes.

This file is the group's state and how changes are applied to it. What is decided, and so what
clients see, is beside it: join.py, sync.py, leave.py, and
rebalance.py for what happens by itself.

A simple group (offsets are committed to it, and nobody is a member) is one that was never joined.
"""

from __future__ import annotations

from collections.abc import Iterator

from domain.errors import (
    CoordinatorNotAvailable,
    FencedInstanceId,
    GroupIdNotFound,
    IllegalGeneration,
    NonEmptyGroup,
    RebalanceInProgress,
    UnknownMemberId,
)
from domain.groups.classic.applying import APPLY
from domain.groups.classic.changes import GroupMetadataChanged, Image
from domain.groups.classic.member import ClassicMember, SupportedProtocols
from domain.groups.classic.states import State
from domain.groups.consumer_protocol import CONSUMER, subscribed_topics
from domain.groups.group import Group, GroupChange, GroupKind


class ClassicGroup(Group):
    kind = GroupKind.CLASSIC

    __slots__ = (
        "_topics",
        "extension_ms",
        "generation_id",
        "is_initial",
        "is_kept",
        "join_deadline_ms",
        "joining",
        "leader",
        "member_came",
        "members",
        "named_type",
        "pending",
        "protocol_name",
        "said_bytes",
        "since_ms",
        "soonest_ms",
        "state",
        "static_members",
        "supported",
        "sync_deadline_ms",
        "unread",
        "unsynced",
    )

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.state = State.EMPTY
        self.generation_id = 0
        self.named_type = ""
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        #: The member id of each instance id.
        self.static_members: dict[str, str] = {}
        #: Ids that were given away and did not come back yet, and until when they may.
        self.pending: dict[str, int] = {}
        self.supported = SupportedProtocols()
        #: What all members say of themselves together.
        self.said_bytes = 0
        #: How many members wait for the answer to their join.
        self.joining = 0
        #: Who was told of this generation and did not ask for its assignment yet.
        self.unsynced: set[str] = set()
        #: The rebalance that goes on.
        self.join_deadline_ms: int | None = None
        self.is_initial = False
        self.extension_ms = 0
        self.member_came = False
        self.sync_deadline_ms: int | None = None
        #: Of what is kept: whether anything is, since when it is so, which topics they read: as of
        #: `unread`, when somebody asks.
        self.is_kept = False
        self.since_ms: int | None = None
        self.unread: Image | None = None
        self._topics: frozenset[str] | None = None
        #: No later than the next moment at which something is due.
        self.soonest_ms: int | None = None

    # ---- what others may know of it

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def protocol_type(self) -> str:
        return self.named_type

    @property
    def is_empty(self) -> bool:
        return self.state is State.EMPTY

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
        """Whether it is a member in good order, which may have to join again all the same."""
        self.check_member(member_id, instance_id)
        if generation_id != self.generation_id:
            raise IllegalGeneration()

    def check_commit(
        self, member_id: str, instance_id: str | None, epoch: int, knows_epochs: bool
    ) -> None:
        if self.state is State.DEAD:
            raise CoordinatorNotAvailable()
        if self.state is State.EMPTY and epoch < 0:
            return
        if epoch < 0 and not member_id and instance_id is None:
            raise UnknownMemberId()
        self.check_member(member_id, instance_id)
        if epoch != self.generation_id:
            raise IllegalGeneration()
        if self.state is State.COMPLETING_REBALANCE:
            raise RebalanceInProgress()

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        if self.state is State.DEAD:
            raise GroupIdNotFound(f"Group {self.group_id} is in dead state.")

    def heard_from(self, member_id: str, now_ms: int) -> None:
        member = self.members.get(member_id)
        if member is not None and self.state is not State.COMPLETING_REBALANCE:
            member.renew(now_ms)

    def check_delete(self) -> None:
        if self.state is State.DEAD:
            raise GroupIdNotFound(f"Group {self.group_id} is in dead state.")
        if self.state is not State.EMPTY:
            raise NonEmptyGroup()

    def deletion(self) -> list[GroupChange]:
        return [GroupMetadataChanged(self.group_id, None)]

    @property
    def topics(self) -> frozenset[str] | None:
        """What the members of this generation read together; None where they do not say it."""
        if self.unread is not None:
            self._topics = _topics_of(self.unread)
            self.unread = None
        return self._topics

    def subscribes(self, topic: str) -> bool:
        if self.topics is None:
            return self.named_type == CONSUMER
        return topic in self.topics

    def offsets_expire_from(self, topic: str, committed_ms: int) -> int | None:
        if not self.named_type:
            return committed_ms
        if self.state is State.EMPTY:
            return committed_ms if self.since_ms is None else self.since_ms
        if self.state is State.STABLE and self.topics is not None and topic not in self.topics:
            return committed_ms
        return None

    # ---- time

    def deadlines(self) -> Iterator[int]:
        """All moments at which something may be due."""
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

    def rebalance_timeout_ms(self) -> int:
        return max((one.rebalance_timeout_ms for one in self.members.values()), default=0)

    # ---- what is kept

    def image(self, now_wall_ms: int) -> Image:
        """Of what it is now."""
        return Image(
            self.generation_id,
            self.named_type,
            self.protocol_name,
            self.leader,
            now_wall_ms,
            tuple(member.kept() for member in self.members.values()),
            self.state is State.STABLE,
        )

    def apply(self, change: GroupChange) -> None:
        APPLY[type(change)](self, change)


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
