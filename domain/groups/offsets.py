"""Committed offsets: what is stored for a partition of a group, and when it expires."""

from __future__ import annotations

from dataclasses import dataclass

from domain.configs.settings.definition import LONG_MAX
from domain.errors import GroupIdNotFound, IllegalGeneration, NonEmptyGroup
from domain.groups.embedded_protocol import CONSUMER
from domain.groups.group import Group

#: Without a retention of its own a commit follows the broker's.
NO_RETENTION_TIME = -1

#: For each offset its own moment.
WHEN_COMMITTED = -1


@dataclass(slots=True)
class CommittedOffset:
    """What the client said, the id of the topic it meant, and when. Any offset is taken."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    #: Said by clients that keep a retention of their own (OffsetCommit up to version 4).
    expire_timestamp_ms: int | None
    topic_id: bytes


def expire_timestamp_ms(retention_time_ms: int, now_ms: int) -> int | None:
    if retention_time_ms == NO_RETENTION_TIME:
        return None
    return max(0, min(now_ms + retention_time_ms, LONG_MAX))


def counts_from(group: Group, topic: str) -> int | None:
    """The moment from which the retention of a topic's offsets counts, or WHEN_COMMITTED; None:
    they do not expire now. It may look through all members: asked once for a topic.
    """
    return group.offsets_expire_from(topic, WHEN_COMMITTED)


def is_expired(
    committed: CommittedOffset, counted_from: int | None, now_ms: int, retention_ms: int
) -> bool:
    """Whether it may be forgotten; the group says first whether any of its offsets may."""
    if counted_from is None:
        return False
    if committed.expire_timestamp_ms is not None:
        return now_ms >= committed.expire_timestamp_ms
    if counted_from == WHEN_COMMITTED:
        counted_from = committed.commit_timestamp_ms
    return now_ms - counted_from >= retention_ms


def metadata_units(text: str) -> int:
    """Its length as Kafka counts it: what does not fit into 16 bits counts twice."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le")) // 2


def refuse_unknown_group(knows_epochs: bool) -> None:
    """A generation or epoch of a group that is not there."""
    if knows_epochs:
        raise GroupIdNotFound()
    raise IllegalGeneration()


def check_offset_delete(group: Group) -> None:
    """Members of type `consumer` name their topics; of others no offset is deleted."""
    if group.is_empty or group.protocol_type == CONSUMER:
        return
    raise NonEmptyGroup()
