"""Committed offsets as records of __consumer_offsets, in the formats that Kafka 4.2 writes.

    OffsetCommitKey    1  group, topic, partition
    OffsetCommitValue  4  offset, leader epoch, metadata, commit timestamp, topic id
                       1  with an expire timestamp, without leader epoch and topic id

A record without value, a tombstone, deletes the offset.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct, unpack

from domain.groups.offsets import CommittedOffset
from domain.messages.varint import varuint

#: Topic, partition and the committed offset; None: deleted.
Offset = tuple[str, int, CommittedOffset | None]
#: Key and value.
Record = tuple[bytes, bytes | None]

_MAX_STRING_BYTES = (1 << 15) - 1
_NULL_STRING = b"\xff\xff"

_INT16, _INT32 = Struct(">h"), Struct(">i")
_OFFSET_KEY, _EXPIRING_OFFSET_VALUE = _INT16.pack(1), _INT16.pack(1)
#: Version, offset, leader epoch.
_OFFSET_VALUE = Struct(">hqi")
_OFFSET, _TIMESTAMP, _TIMESTAMPS = Struct(">q"), Struct(">q"), Struct(">qq")
#: One tagged field: number 0 of 16 bytes.
_TOPIC_ID = b"\x01\x00\x10"


class TooLong(Exception):
    """A text of more than 32767 bytes, which no record of Kafka's has."""


def partition_of(group_id: str, partitions: int) -> int:
    """As Kafka: by Java's hash code of the group id."""
    code = 0
    encoded = group_id.encode("utf-16-be")
    for unit in unpack(f">{len(encoded) // 2}H", encoded):
        code = (31 * code + unit) & 0xFFFFFFFF
    if code == 1 << 31:  # its negation is no Java int
        return 0
    return (code if code < 1 << 31 else (1 << 32) - code) % partitions


def offset_records(group_id: str, offsets: Iterable[Offset]) -> list[Record]:
    """Raises TooLong."""
    records: list[Record] = []
    last_topic = None
    prefix = b""
    for topic, partition, committed in offsets:
        if topic is not last_topic:
            last_topic = topic
            prefix = b"".join((_OFFSET_KEY, string(group_id), string(topic)))
        value = None if committed is None else _offset_value(committed)
        records.append((prefix + _INT32.pack(partition), value))
    return records


def _offset_value(committed: CommittedOffset) -> bytes:
    expires_ms = committed.expire_timestamp_ms
    if expires_ms is not None:
        return b"".join(
            (
                _EXPIRING_OFFSET_VALUE,
                _OFFSET.pack(committed.offset),
                string(committed.metadata),
                _TIMESTAMPS.pack(committed.commit_timestamp_ms, expires_ms),
            )
        )
    metadata = committed.metadata.encode()
    return b"".join(
        (
            _OFFSET_VALUE.pack(4, committed.offset, committed.leader_epoch),
            varuint(len(metadata) + 1),
            metadata,
            _TIMESTAMP.pack(committed.commit_timestamp_ms),
            _TOPIC_ID,
            committed.topic_id,
        )
    )


def string(text: str | None) -> bytes:
    if text is None:
        return _NULL_STRING
    encoded = text.encode()
    if len(encoded) > _MAX_STRING_BYTES:
        raise TooLong(text[:100])
    return _INT16.pack(len(encoded)) + encoded
