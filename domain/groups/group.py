"""Group: the common part of groups of both protocols.

    classic     clients assign the partitions, the broker counts generations        classic/
    consumer    the broker assigns partitions, each member has an epoch (KIP-848)   consumer/

A decision has changes and responses, and changes nothing itself; only `apply` changes a group, both
after a decision and at start-up, with the persisted changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Self

from domain.errors import GroupIdNotFound
from domain.topics.topic import Topic

#: The epoch of commits and fetches without a member.
NO_EPOCH = -1

#: The removal reason if no timeout expired.
LEFT = "left"


class GroupKind(Enum):
    """With the names of ListGroups."""

    CLASSIC = "classic"
    CONSUMER = "consumer"


class GroupChange:
    """A change of a group, as a value."""

    #: The kind of the group.
    kind: ClassVar[GroupKind]
    #: Whether it is persisted.
    is_durable: ClassVar[bool] = True

    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


class GroupDeleted(GroupChange):
    """Removes the group, after the changes that delete its rows."""

    __slots__ = ()


Changes = Sequence[GroupChange]


class Decision(NamedTuple):
    """The result of a request, or of a timeout."""

    changes: Changes = ()
    #: By the token of the pending request.
    responses: Sequence[tuple[int, Any]] = ()
    #: For the current request, unless it is pending and has a token.
    response: Any = None


class GroupMember(NamedTuple):
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    #: By topic name, in order; empty for other protocol types than `consumer`.
    assigned: dict[str, tuple[int, ...]]


class Group(ABC):
    """Checks raise if the whole request is refused."""

    __slots__ = ("group_id",)

    kind: GroupKind
    #: `consumer`, another type that the members name, or "" for a simple group.
    protocol_type: str
    members: Mapping[str, Any]
    #: Member ids by instance id.
    static_members: Mapping[str, str]
    #: Members that wait for the response to JoinGroup.
    joining: int = 0

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id

    @classmethod
    def of(cls, group: Group | None) -> Self | None:
        """The group, if it is of this kind."""
        return group if isinstance(group, cls) else None

    @classmethod
    def existing(cls, group: Group | None, group_id: str) -> Self:
        """Raises GroupIdNotFound, with Kafka's messages, if there is none of this kind."""
        if group is None:
            raise GroupIdNotFound(f"Group {group_id} not found.")
        if not isinstance(group, cls):
            raise GroupIdNotFound(f"Group {group_id} is not a {cls.kind.value} group.")
        return group

    @abstractmethod
    def apply(self, change: GroupChange) -> None: ...

    @property
    @abstractmethod
    def state_name(self) -> str:
        """As in ListGroups: Stable, Empty, ..."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether it has no members."""

    @abstractmethod
    def assignor(self, allowed: Sequence[str]) -> str:
        """The name of the assignor, or "". `allowed`: those of the broker, default first."""

    @abstractmethod
    def assigned_members(
        self, topic_by_id: Callable[[bytes], Topic | None]
    ) -> Iterator[GroupMember]:
        """All members with their partitions, by member id."""

    @abstractmethod
    def check_commit(
        self, member_id: str, instance_id: str | None, epoch: int, knows_epochs: bool
    ) -> None:
        """Raises unless this member may commit offsets now.

        `epoch` is the generation in a classic group; `knows_epochs`: the request version has an
        error code for stale epochs.
        """

    @abstractmethod
    def check_transactional_commit(
        self, member_id: str, instance_id: str | None, epoch: int
    ) -> None:
        """Raises unless offsets may be committed in a transaction now.

        Producers before KIP-447 name no member: the transactional id fences them.
        """

    @abstractmethod
    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Raises unless this member may fetch offsets; most requests name no member."""

    @abstractmethod
    def renew_session(self, member_id: str, now_ms: int) -> None:
        """In classic groups an offset commit renews the session, like a heartbeat."""

    @abstractmethod
    def responded_late(self, member_id: str, now_ms: int) -> None:
        """A response waited for a commit, during which the member sent no heartbeats."""

    @abstractmethod
    def check_delete(self) -> None:
        """Raises unless the group may be deleted now."""

    @abstractmethod
    def deletion(self) -> list[GroupChange]:
        """The changes that delete the group and its rows."""

    @abstractmethod
    def subscribes(self, topic: str) -> bool:
        """Whether a member subscribes to it: then its offsets are not deleted."""

    @abstractmethod
    def offsets_expire_from(self, topic: str, committed_ms: int) -> int | None:
        """The start of the retention of an offset; None: it does not expire now."""
