"""Committed offsets as records of __consumer_offsets, in the formats that Kafka 4.2 writes.

    OffsetCommitKey    1  group, topic, partition
    OffsetCommitValue  4  offset, leader epoch, metadata, commit timestamp, topic id
                       1  with an expire timestamp, without leader epoch and topic id

A record without value, a tombstone, deletes the offset. Kafka reads, and so does `read_offset`,
keys of version 0 and all versions of the value, which earlier versions of Kafka wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from domain.errors import InvalidRecord
from domain.groups.offsets import CommittedOffset
from domain.messages.varint import varuint
from domain.topics.internal_records import Fields, Record, string
from domain.topics.topic import NO_TOPIC_ID

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


OFFSET_KEYS = (0, 1)


def read_offset_key(key: bytes) -> tuple[str, str, int]:
    """Group, topic and partition. Raises InvalidRecord."""
    fields = Fields(key)
    fields.version(*OFFSET_KEYS)
    found = fields.words(), fields.words(), fields.take("i")
    fields.end()
    return found


def read_offset_value(value: bytes) -> CommittedOffset:
    """The topic id is NO_TOPIC_ID before version 4. Raises InvalidRecord."""
    fields = Fields(value)
    version = fields.version(0, 4, flexible=4)
    offset = fields.take("q")
    leader_epoch = fields.take("i") if version >= 3 else -1
    metadata = fields.words()
    committed_ms = fields.take("q")
    expires_ms = fields.take("q") if version == 1 else -1
    topic_id = fields.tagged().get(0, NO_TOPIC_ID)
    fields.end()
    if len(topic_id) != len(NO_TOPIC_ID):
        raise InvalidRecord("a topic id has another length")
    expires = None if expires_ms < 0 else expires_ms
    return CommittedOffset(offset, leader_epoch, metadata, committed_ms, expires, topic_id)
