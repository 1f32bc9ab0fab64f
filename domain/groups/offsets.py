"""Committed offsets, and when they expire."""

from __future__ import annotations

from dataclasses import dataclass

from domain.configs.settings.definition import LONG_MAX
from domain.errors import GroupIdNotFound, IllegalGeneration, NonEmptyGroup
from domain.groups.embedded_protocol import CONSUMER
from domain.groups.group import Group

#: The request has no retention time: that of the broker applies.
NO_RETENTION_TIME = -1

#: The retention starts at the commit of each offset.
WHEN_COMMITTED = -1


@dataclass(slots=True)
class CommittedOffset:
    """The offset of one partition. Any offset is accepted."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    #: From the retention time of the request (OffsetCommit up to version 4).
    expire_timestamp_ms: int | None
    topic_id: bytes


def expire_timestamp_ms(retention_time_ms: int, now_ms: int) -> int | None:
    if retention_time_ms == NO_RETENTION_TIME:
        return None
    return max(0, min(now_ms + retention_time_ms, LONG_MAX))


def counts_from(group: Group, topic: str) -> int | None:
    """The start of the retention of a topic's offsets, or WHEN_COMMITTED; None: they do not expire
    now. It may read all members, so call it once per topic.
    """
    return group.offsets_expire_from(topic, WHEN_COMMITTED)


def is_expired(
    committed: CommittedOffset, counted_from: int | None, now_ms: int, retention_ms: int
) -> bool:
    """Whether the offset may be removed."""
    if counted_from is None:
        return False
    if committed.expire_timestamp_ms is not None:
        return now_ms >= committed.expire_timestamp_ms
    if counted_from == WHEN_COMMITTED:
        counted_from = committed.commit_timestamp_ms
    return now_ms - counted_from >= retention_ms


def metadata_units(text: str) -> int:
    """The length of a Java string: UTF-16 units."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le")) // 2


def refuse_unknown_group(knows_epochs: bool) -> None:
    """A commit with a generation or epoch, but the group does not exist."""
    if knows_epochs:
        raise GroupIdNotFound()
    raise IllegalGeneration()


def check_offset_delete(group: Group) -> None:
    """Subscriptions are known for protocol type `consumer` only; others must be empty."""
    if group.is_empty or group.protocol_type == CONSUMER:
        return
    raise NonEmptyGroup()
