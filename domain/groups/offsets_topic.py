"""Committed offsets as records of __consumer_offsets, in the formats that Kafka 4.2 writes.

    OffsetCommitKey    1  group, topic, partition
    OffsetCommitValue  4  offset, leader epoch, metadata, commit timestamp, topic id
                       1  with an expire timestamp, without leader epoch and topic id

A record without value, a tombstone, deletes the offset.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from domain.groups.offsets import CommittedOffset
from domain.messages.varint import varuint
from domain.topics.internal_records import Record, string

#: Topic, partition and the committed offset; None: deleted.
Offset = tuple[str, int, CommittedOffset | None]

_INT16, _INT32 = Struct(">h"), Struct(">i")
_OFFSET_KEY, _EXPIRING_OFFSET_VALUE = _INT16.pack(1), _INT16.pack(1)
#: Version, offset, leader epoch.
_OFFSET_VALUE = Struct(">hqi")
_OFFSET, _TIMESTAMP, _TIMESTAMPS = Struct(">q"), Struct(">q"), Struct(">qq")
#: One tagged field: number 0 of 16 bytes.
_TOPIC_ID = b"\x01\x00\x10"


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
