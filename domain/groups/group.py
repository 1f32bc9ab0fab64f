"""Group: what the groups of both protocols have in common.

    classic     clients assign the partitions, the broker counts generations        classic/
    consumer    the broker assigns partitions, each member has an epoch (KIP-848)   consumer/

Deciding and applying are separate: a decision holds changes and responses and changes nothing;
`apply` is the only way in which a group changes, both after a decision and at start-up, when the
persisted changes are applied again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Self

from domain.errors import GroupIdNotFound
from domain.topics.topic import Topic

#: The epoch of commits and fetches that come from no member.
NO_EPOCH = -1

#: Why a member was removed, where no timeout is the reason.
LEFT = "left"


class GroupKind(Enum):
    """As clients see it in ListGroups."""

    CLASSIC = "classic"
    CONSUMER = "consumer"


class GroupChange:
    """A fact about a group, as a value. The repository decides how it is persisted."""

    #: Of the group that such changes are applied to.
    kind: ClassVar[GroupKind]
    #: Whether the group is different after a restart.
    is_durable: ClassVar[bool] = True

    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


class GroupDeleted(GroupChange):
    """The group is removed: follows the changes that delete its rows."""

    __slots__ = ()


Changes = Sequence[GroupChange]


class Decision(NamedTuple):
    """What a request, or the passing of time, does to a group."""

    changes: Changes = ()
    #: By the token of the request that waits for it.
    responses: Sequence[tuple[int, Any]] = ()
    #: To the request that was decided, unless it waits for others and has a token.
    response: Any = None


class GroupMember(NamedTuple):
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    #: By topic name, in order; empty where the members do not use the consumer protocol type.
    assigned: dict[str, tuple[int, ...]]


class Group(ABC):
    """A refused request raises: it is refused as a whole."""

    __slots__ = ("group_id",)

    kind: GroupKind
    #: `consumer`, another type that the members name, or "" for a simple group.
    protocol_type: str
    members: Mapping[str, Any]
    #: The member id of each instance id.
    static_members: Mapping[str, str]
    #: How many members wait for the response to JoinGroup.
    joining: int = 0

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id

    @classmethod
    def of(cls, group: Group | None) -> Self | None:
        """The group, if it is of this kind."""
        return group if isinstance(group, cls) else None

    @classmethod
    def existing(cls, group: Group | None, group_id: str) -> Self:
        """Raises GroupIdNotFound, with Kafka's words, if there is none of this kind."""
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
        """As ListGroups and the describing APIs print it: Stable, Empty, ..."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether it has no members."""

    @abstractmethod
    def assignor(self, allowed: Sequence[str]) -> str:
        """The assignor of its partitions, or "". `allowed`: those of the broker, default first."""

    @abstractmethod
    def assigned_members(
        self, topic_by_id: Callable[[bytes], Topic | None]
    ) -> Iterator[GroupMember]:
        """All members with their partitions, by member id."""

    @abstractmethod
    def check_commit(
        self, member_id: str, instance_id: str | None, epoch: int, knows_epochs: bool
    ) -> None:
        """Whether this member may commit offsets now.

        `epoch` is its generation in a classic group; `knows_epochs`: the version of the request
        has an error for stale epochs.
        """

    @abstractmethod
    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Whether this member may fetch committed offsets; most requests name no member."""

    @abstractmethod
    def renew_session(self, member_id: str, now_ms: int) -> None:
        """In classic groups an offset commit extends the session, as a heartbeat does."""

    @abstractmethod
    def responded_late(self, member_id: str, now_ms: int) -> None:
        """A response had to wait for its commit, and the member could not send heartbeats."""

    @abstractmethod
    def check_delete(self) -> None:
        """Whether the group may be deleted now."""

    @abstractmethod
    def deletion(self) -> list[GroupChange]:
        """The changes that delete it and its rows."""

    @abstractmethod
    def subscribes(self, topic: str) -> bool:
        """Whether a member may read it: then its offsets are neither deleted nor expire."""

    @abstractmethod
    def offsets_expire_from(self, topic: str, committed_ms: int) -> int | None:
        """The time from which an offset's retention counts; None: it does not expire now."""
