"""The row of a classic group. There is one only, so that it is never half of one generation and
half of the next.

c       [generation, protocol type, protocol, leader, since when, whether assigned, members]
        a member: [id, instance id, client id, client host, rebalance timeout, session timeout,
                   [[protocol, metadata], ...], assignment]
        bytes are base64
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from domain.groups.classic.changes import GroupMetadataChanged, Image
from domain.groups.classic.member import MemberImage
from infrastructure.storage.repositories.group_row import RowKind


def _text(raw: bytes) -> str:
    return b64encode(raw).decode()


def _raw(text: str) -> bytes:
    return b64decode(text, validate=True)


def _encode(change: GroupMetadataChanged) -> list[Any] | None:
    image = change.image
    if image is None:
        return None
    return [
        image.generation_id,
        image.protocol_type,
        image.protocol_name,
        image.leader,
        image.since_ms,
        image.is_assigned,
        [_encode_member(member) for member in image.members],
    ]


def _encode_member(member: MemberImage) -> list[Any]:
    protocols = [[name, _text(metadata)] for name, metadata in member.protocols]
    return [*member[:6], protocols, _text(member.assignment)]


def _decode(group_id: str, name: str, values: Any) -> GroupMetadataChanged:
    generation_id, protocol_type, protocol_name, leader, since_ms, is_assigned, members = values
    image = Image(
        int(generation_id),
        protocol_type,
        protocol_name,
        leader,
        int(since_ms),
        tuple(_decode_member(member) for member in members),
        bool(is_assigned),
    )
    return GroupMetadataChanged(group_id, image)


def _decode_member(values: Any) -> MemberImage:
    member_id, instance_id, client_id, host, rebalance_ms, session_ms, protocols, assigned = values
    return MemberImage(
        member_id,
        instance_id,
        client_id,
        host,
        int(rebalance_ms),
        int(session_ms),
        tuple((name, _raw(metadata)) for name, metadata in protocols),
        _raw(assigned),
    )


CLASSIC_ROWS = (RowKind(b"c", GroupMetadataChanged, lambda change: "", _encode, _decode),)
