"""What can happen to a classic group, as values; only GroupMetadataChanged is persisted.

A restart needs no more: members that have joined a generation that has not begun join again.
"""

from __future__ import annotations

from typing import NamedTuple

from domain.errors import BrokerError
from domain.groups.classic.member import ClassicMember, MemberImage
from domain.groups.group import LEFT, GroupChange, GroupKind


class Now(NamedTuple):
    """Deadlines use the one, persisted timestamps the other."""

    monotonic_ms: int
    wall_ms: int


class ClassicGroupChange(GroupChange):
    kind = GroupKind.CLASSIC
    is_durable = False

    __slots__ = ()


class MemberPending(ClassicGroupChange):
    """It was given its id and is to come back with it."""

    __slots__ = ("deadline_ms", "member_id")

    def __init__(self, group_id: str, member_id: str, deadline_ms: int) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.deadline_ms = deadline_ms


class MemberJoined(ClassicGroupChange):
    """A new member, or what a member has become by joining again."""

    __slots__ = ("member", "protocol_type")

    def __init__(self, group_id: str, member: ClassicMember, protocol_type: str) -> None:
        self.group_id = group_id
        self.member = member
        self.protocol_type = protocol_type


class MemberReplaced(ClassicGroupChange):
    """A static member is back, under another id."""

    __slots__ = ("member", "old_id")

    def __init__(self, group_id: str, old_id: str, member: ClassicMember) -> None:
        self.group_id = group_id
        self.old_id = old_id
        self.member = member


class MemberRemoved(ClassicGroupChange):
    """Also one that was only pending."""

    __slots__ = ("member_id", "reason")

    def __init__(self, group_id: str, member_id: str, reason: str = LEFT) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.reason = reason


class MemberSynced(ClassicGroupChange):
    """`token`: it waits for the leader."""

    __slots__ = ("member_id", "token")

    def __init__(self, group_id: str, member_id: str, token: int | None) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.token = token


class SyncsCompleted(ClassicGroupChange):
    """Members that waited for the leader have their responses, and new sessions.

    Also who was refused: a rebalance begins, and it is to join again.
    """

    __slots__ = ("now_ms",)

    def __init__(self, group_id: str, now_ms: int) -> None:
        self.group_id = group_id
        self.now_ms = now_ms


class RebalanceStarted(ClassicGroupChange):
    """All members must join by `deadline_ms`.

    `is_initial`: the group was empty, so it waits for more members, and as long as some come it may
    wait `extension_ms` longer.
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
    """Follows the persisted generation: all members have their responses and must sync in time."""

    __slots__ = ("now_ms", "sync_deadline_ms")

    def __init__(self, group_id: str, now_ms: int, sync_deadline_ms: int) -> None:
        self.group_id = group_id
        self.now_ms = now_ms
        self.sync_deadline_ms = sync_deadline_ms


class SessionsStarted(ClassicGroupChange):
    """The group has been read from the store: all sessions start now."""

    __slots__ = ("now_ms",)

    def __init__(self, group_id: str, now_ms: int) -> None:
        self.group_id = group_id
        self.now_ms = now_ms


class Image(NamedTuple):
    generation_id: int
    protocol_type: str
    protocol_name: str | None
    leader: str | None
    #: When it came into this state.
    since_ms: int
    members: tuple[MemberImage, ...]
    #: Whether the members' assignments are of this generation.
    is_assigned: bool


class GroupMetadataChanged(ClassicGroupChange):
    """All that is persisted of a group, as it is from now on; None: the row is deleted."""

    is_durable = True

    __slots__ = ("image",)

    def __init__(self, group_id: str, image: Image | None) -> None:
        self.group_id = group_id
        self.image = image


class JoinResponse(NamedTuple):
    """The leader gets the members, with their metadata of the elected protocol."""

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
