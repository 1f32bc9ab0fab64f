"""Classic groups as records of __consumer_offsets, in the format that Kafka 4.2 writes.

    GroupMetadataKey    2  group
    GroupMetadataValue  3  protocol type, generation, protocol, leader, time, members

A record without value, a tombstone, deletes the group.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from domain.groups.classic.changes import Image
from domain.groups.classic.member import MemberImage
from domain.topics.internal_records import Fields, Record, string

GROUP_KEY = 2
_KEY_VERSION, _VALUE_VERSION = b"\0\2", b"\0\3"
_INT32 = Struct(">i")
_SINCE_AND_MEMBERS, _TIMEOUTS = Struct(">qi"), Struct(">ii")


def group_record(group_id: str, image: Image | None) -> Record:
    """Raises TooLong."""
    key = _KEY_VERSION + string(group_id)
    if image is None:
        return key, None
    pieces = [
        _VALUE_VERSION,
        string(image.protocol_type),
        _INT32.pack(image.generation_id),
        string(image.protocol_name),
        string(image.leader),
        _SINCE_AND_MEMBERS.pack(image.since_ms, len(image.members)),
    ]
    for member in image.members:
        pieces += _member(member, image.protocol_name)
    return key, b"".join(pieces)


def _member(member: MemberImage, protocol_name: str | None) -> tuple[bytes, ...]:
    subscription = dict(member.protocols).get(protocol_name or "", b"")
    return (
        string(member.member_id),
        string(member.instance_id),
        string(member.client_id),
        string(member.client_host),
        _TIMEOUTS.pack(member.rebalance_timeout_ms, member.session_timeout_ms),
        _INT32.pack(len(subscription)),
        subscription,
        _INT32.pack(len(member.assignment)),
        member.assignment,
    )


def read_group_key(key: bytes) -> str:
    """The group id. Raises InvalidRecord."""
    fields = Fields(key)
    fields.version(GROUP_KEY, GROUP_KEY)
    group_id = fields.words()
    fields.end()
    return group_id


class GroupWithoutMembers(NamedTuple):
    """What is read of a record: members join again. Kafka's versions 0 to 4."""

    generation_id: int
    protocol_type: str
    #: The time of the last change of its state; -1 in versions 0 and 1.
    since_ms: int
    member_count: int

    def image(self, now_ms: int) -> Image:
        """Of a group whose members, if it had any, left now."""
        since_ms = self.since_ms if not self.member_count and self.since_ms >= 0 else now_ms
        return Image(self.generation_id, self.protocol_type, None, None, since_ms, (), False)


def read_group_value(value: bytes) -> GroupWithoutMembers:
    """Raises InvalidRecord."""
    fields = Fields(value)
    version = fields.version(0, 4, flexible=4)
    protocol_type = fields.words()
    generation_id = fields.take("i")
    fields.text(), fields.text()
    since_ms = fields.take("q") if version >= 2 else -1
    return GroupWithoutMembers(generation_id, protocol_type, since_ms, fields.length())
