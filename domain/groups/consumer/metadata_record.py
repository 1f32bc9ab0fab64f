"""Consumer groups (KIP-848) in records of __consumer_offsets, without their members.

    ConsumerGroupMetadataKey                  3  group; value 0: group epoch, tagged: hash of topics
    ConsumerGroupTargetAssignmentMetadataKey  6  group; value 0: epoch of the target assignment

A record without value, a tombstone, deletes the group. Members join again, so no record of them is
read or written.
"""

from __future__ import annotations

from struct import Struct

from domain.topics.internal_records import Fields, Record, string

GROUP_EPOCH_KEY, TARGET_EPOCH_KEY = 3, 6
_KEY = Struct(">h")
#: Version, epoch, number of tagged fields.
_EPOCH = Struct(">hib")


def epoch_record(key: int, group_id: str, epoch: int) -> Record:
    """Of a group, or of its target assignment. Raises TooLong."""
    return _KEY.pack(key) + string(group_id), _EPOCH.pack(0, epoch, 0)


def read_group_id(key: bytes) -> str:
    """Of a key whose first field is the group. Raises InvalidRecord."""
    fields = Fields(key)
    fields.version(0, 1 << 14)
    return fields.words()


def read_epoch(value: bytes) -> int:
    """Of a group, or of its target assignment. Raises InvalidRecord."""
    fields = Fields(value)
    fields.version(0, 0, flexible=0)
    epoch: int = fields.take("i")
    fields.tagged()
    fields.end()
    return epoch
