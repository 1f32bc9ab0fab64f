"""Changes of a classic group, as values; only GroupMetadataChanged is persisted.

After a restart, members of a generation that had not started join again.
"""

from __future__ import annotations

from typing import NamedTuple

from domain.errors import BrokerError
from domain.groups.classic.member import ClassicMember, MemberImage
from domain.groups.group import LEFT, GroupChange, GroupKind


class Now(NamedTuple):
    """Deadlines use the monotonic clock, persisted timestamps the wall clock."""

    monotonic_ms: int
    wall_ms: int


class ClassicGroupChange(GroupChange):
    kind = GroupKind.CLASSIC
    is_durable = False

    __slots__ = ()


class MemberPending(ClassicGroupChange):
    """A member id was issued; the client joins again with it (KIP-394)."""

    __slots__ = ("deadline_ms", "member_id")

    def __init__(self, group_id: str, member_id: str, deadline_ms: int) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.deadline_ms = deadline_ms


class MemberJoined(ClassicGroupChange):
    """A new member, or the new state of a member that joined again."""

    __slots__ = ("member", "protocol_type")

    def __init__(self, group_id: str, member: ClassicMember, protocol_type: str) -> None:
        self.group_id = group_id
        self.member = member
        self.protocol_type = protocol_type


class MemberReplaced(ClassicGroupChange):
    """A static member has returned with another member id."""

    __slots__ = ("member", "old_id")

    def __init__(self, group_id: str, old_id: str, member: ClassicMember) -> None:
        self.group_id = group_id
        self.old_id = old_id
        self.member = member


class MemberRemoved(ClassicGroupChange):
    """Also a pending one."""

    __slots__ = ("member_id", "reason")

    def __init__(self, group_id: str, member_id: str, reason: str = LEFT) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.reason = reason


class MemberSynced(ClassicGroupChange):
    """`token`: its request waits for the leader; None: it has its response."""

    __slots__ = ("member_id", "token")

    def __init__(self, group_id: str, member_id: str, token: int | None) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.token = token


class SyncsCompleted(ClassicGroupChange):
    """Pending SyncGroup requests get responses, and their members new sessions.

    Also if they are refused because a rebalance starts.
    """

    __slots__ = ("now_ms",)

    def __init__(self, group_id: str, now_ms: int) -> None:
        self.group_id = group_id
        self.now_ms = now_ms


class RebalanceStarted(ClassicGroupChange):
    """All members must join by `deadline_ms`.

    `is_initial`: the group was empty and waits for more members; while new ones join, it may wait
    `extension_ms` longer (group.initial.rebalance.delay.ms).
    """

    __slots__ = ("deadline_ms", "extension_ms", "is_initial")

    def __init__(
        self, group_id: str, deadline_ms: int, is_initial: bool = False, extension_ms: int = 0
    ) -> None:
        self.group_id = group_id
        self.deadline_ms = deadline_ms
        self.is_initial = is_initial
        self.extension_ms = extension_ms


class RebalanceExtended(ClassicGroupChange):
    __slots__ = ("deadline_ms", "extension_ms")

    def __init__(self, group_id: str, deadline_ms: int, extension_ms: int = 0) -> None:
        self.group_id = group_id
        self.deadline_ms = deadline_ms
        self.extension_ms = extension_ms


class GenerationStarted(ClassicGroupChange):
    """Follows the persisted generation: all members have their JoinGroup responses."""

    __slots__ = ("now_ms", "sync_deadline_ms")

    def __init__(self, group_id: str, now_ms: int, sync_deadline_ms: int) -> None:
        self.group_id = group_id
        self.now_ms = now_ms
        self.sync_deadline_ms = sync_deadline_ms


class SessionsStarted(ClassicGroupChange):
    """The group was loaded from the store: all sessions start now."""

    __slots__ = ("now_ms",)

    def __init__(self, group_id: str, now_ms: int) -> None:
        self.group_id = group_id
        self.now_ms = now_ms


class Image(NamedTuple):
    generation_id: int
    protocol_type: str
    protocol_name: str | None
    leader: str | None
    #: The time of the last change of its state.
    since_ms: int
    members: tuple[MemberImage, ...]
    #: The assignments of the members are of this generation.
    is_assigned: bool


class GroupMetadataChanged(ClassicGroupChange):
    """The persisted state of a group; None: the row is deleted."""

    is_durable = True

    __slots__ = ("image",)

    def __init__(self, group_id: str, image: Image | None) -> None:
        self.group_id = group_id
        self.image = image


class JoinResponse(NamedTuple):
    """The leader gets all members, with their metadata of the selected protocol."""

    member_id: str
    error: BrokerError | None = None
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    members: tuple[tuple[str, str | None, bytes], ...] = ()
    skip_assignment: bool = False


class SyncResponse(NamedTuple):
    error: BrokerError | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""
