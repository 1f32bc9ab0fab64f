"""Consumer groups (KIP-848) in records of __consumer_offsets, as far as they are read.

    ConsumerGroupMetadataKey                  3  group; value 0: group epoch, tagged: hash of topics
    ConsumerGroupMemberMetadataKey            5  group, member
    ConsumerGroupTargetAssignmentMetadataKey  6  group; value 0: epoch of the target assignment

A record without value, a tombstone, deletes the group or the member. Members join again, so no
other record of them is read.
"""

from __future__ import annotations

from domain.topics.internal_records import Fields

GROUP_EPOCH_KEY, MEMBER_KEY, TARGET_EPOCH_KEY = 3, 5, 6


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
