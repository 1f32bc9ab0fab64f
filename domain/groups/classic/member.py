"""ClassicMember: one member of a classic group, as the group knows it."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import NamedTuple

#: By name, the one a member likes best first; what the metadata means is the clients' business.
Protocols = tuple[tuple[str, bytes], ...]


def metadata_bytes(protocols: Protocols, *names: str | None) -> int:
    """What a member says of itself, by these names and else."""
    said = sum(len(name) + len(metadata) for name, metadata in protocols)
    return said + sum(len(name) for name in names if name)


class JoinRequest(NamedTuple):
    group_id: str
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    #: What responses the version of the request allows.
    joins_twice: bool = True
    may_skip_assignment: bool = True


class MemberImage(NamedTuple):
    """What is persisted of a member."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols
    assignment: bytes


class ClassicMember:
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "instance_id",
        "is_new",
        "joining",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session_deadline_ms",
        "session_timeout_ms",
        "syncing",
    )

    def __init__(self, image: MemberImage) -> None:
        self.member_id = image.member_id
        self.instance_id = image.instance_id
        self.client_id = image.client_id
        self.client_host = image.client_host
        self.rebalance_timeout_ms = image.rebalance_timeout_ms
        self.session_timeout_ms = image.session_timeout_ms
        self.protocols = image.protocols
        self.assignment = image.assignment
        #: It has not been in any generation yet: its client may have vanished unnoticed.
        self.is_new = False
        #: Tokens of its pending requests.
        self.joining: int | None = None
        self.syncing: int | None = None
        self.session_deadline_ms: int | None = None

    @classmethod
    def joined(cls, request: JoinRequest, member_id: str, token: int) -> ClassicMember:
        member = cls(
            MemberImage(
                member_id,
                request.instance_id,
                request.client_id,
                request.client_host,
                request.rebalance_timeout_ms,
                request.session_timeout_ms,
                request.protocols,
                b"",
            )
        )
        member.is_new = True
        member.joining = token
        return member

    def rejoined(self, request: JoinRequest, token: int | None) -> ClassicMember:
        member = copy(self)
        member.protocols = request.protocols
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
        member.session_timeout_ms = request.session_timeout_ms
        member.joining = token
        return member

    def image(self, assignment: bytes | None = None) -> MemberImage:
        return MemberImage(
            self.member_id,
            self.instance_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.session_timeout_ms,
            self.protocols,
            self.assignment if assignment is None else assignment,
        )

    @property
    def metadata_bytes(self) -> int:
        return metadata_bytes(self.protocols, self.instance_id, self.client_id)

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def may_expire(self) -> bool:
        """Members that wait send no heartbeats; but the client of a new one may have vanished."""
        return self.is_new or (self.joining is None and self.syncing is None)

    def metadata(self, protocol_name: str | None) -> bytes:
        for name, metadata in self.protocols:
            if name == protocol_name:
                return metadata
        return b""

    def renew(self, now_ms: int) -> None:
        self.session_deadline_ms = now_ms + self.session_timeout_ms


class SupportedProtocols:
    """How many of the members know each protocol: a group uses one that all of them know."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, member: ClassicMember) -> None:
        for name, _ in member.protocols:
            self._counts[name] = self._counts.get(name, 0) + 1

    def remove(self, member: ClassicMember) -> None:
        for name, _ in member.protocols:
            self._counts[name] -= 1
            if not self._counts[name]:
                del self._counts[name]

    def first_known_to_all(self, protocols: Protocols, members: int) -> str | None:
        """Of these; `members`: how many there are."""
        counts = self._counts
        for name, _ in protocols:
            if counts.get(name, 0) == members:
                return name
        return None


def elected_protocol(members: Iterable[ClassicMember]) -> str:
    """Each member votes for the first of its protocols that all of them know."""
    voters = list(members)
    known = SupportedProtocols()
    for member in voters:
        known.add(member)
    votes: dict[str, int] = {}
    for member in voters:
        name = known.first_known_to_all(member.protocols, len(voters))
        assert name is not None, "no member joins without a protocol that all know"
        votes[name] = votes.get(name, 0) + 1
    return max(votes, key=votes.__getitem__)
