"""OffsetCommit: offsets of one request, checked per partition and persisted together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.ports.clock import Clock
from application.ports.offset_repository import OffsetWrite
from application.state.runtime import Done
from domain.configs.broker import BrokerConfig
from domain.errors import OffsetMetadataTooLarge
from domain.groups.classic.group import ClassicGroup
from domain.groups.group import NO_EPOCH
from domain.groups.offsets import (
    NO_RETENTION_TIME,
    CommittedOffset,
    expire_timestamp_ms,
    metadata_units,
    refuse_unknown_group,
)
from domain.topics.topic import Topic


class RequestedOffset(Protocol):
    """The offset of one partition in a request; the metadata may be null."""

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


@dataclass(slots=True)
class OffsetCommit:
    """One request: its member, and the offsets accepted so far."""

    group_id: str
    member_id: str
    instance_id: str | None
    #: The generation, in a classic group.
    epoch: int
    #: The request version has error codes for stale epochs and unknown groups.
    knows_epochs: bool = True
    now_ms: int = 0
    expire_timestamp_ms: int | None = None
    writes: list[OffsetWrite] = field(default_factory=list)

    @property
    def is_simple(self) -> bool:
        """Not from a member: of a consumer with assigned partitions, or an admin client."""
        return self.epoch <= NO_EPOCH


class OffsetCommitService:
    def __init__(
        self, offsets: Offsets, groups: Groups, clock: Clock, config: BrokerConfig
    ) -> None:
        self._offsets = offsets
        self._groups = groups
        self._clock = clock
        self._max_metadata_units = config.offset_metadata_max_bytes

    def begin(self, commit: OffsetCommit, retention_time_ms: int = NO_RETENTION_TIME) -> None:
        self._offsets.check_coordinated(commit.group_id)
        self._offsets.check_copies()
        commit.now_ms = self._clock.now_ms()
        if commit.group_id in self._offsets.pending:
            newest_ms = self._offsets.pending.newest_of_group_ms(commit.group_id)
            commit.now_ms = max(commit.now_ms, newest_ms + 1)
        if retention_time_ms != NO_RETENTION_TIME:
            commit.expire_timestamp_ms = expire_timestamp_ms(retention_time_ms, commit.now_ms)

    def check(self, commit: OffsetCommit) -> None:
        """Raises if the member may not commit now. A simple commit creates the group."""
        group = self._groups.find(commit.group_id)
        if group is None:
            if not commit.is_simple:
                refuse_unknown_group(commit.knows_epochs)
            group = ClassicGroup(commit.group_id)
            self._groups.put(group)
        group.check_commit(commit.member_id, commit.instance_id, commit.epoch, commit.knows_epochs)
        group.renew_session(commit.member_id, self._clock.monotonic_ms())

    def add(
        self, commit: OffsetCommit, topic: Topic, offsets: Iterable[RequestedOffset]
    ) -> list[tuple[int, OffsetMetadataTooLarge]]:
        """Returns refused offsets by their index.

        Any offset is accepted, as in Kafka: lower than before, beyond the log end, negative.
        """
        refused: list[tuple[int, OffsetMetadataTooLarge]] = []
        # Hot path: every consumer commits every few seconds.
        group_id, name, topic_id = commit.group_id, topic.name, topic.topic_id
        now_ms, expires_ms = commit.now_ms, commit.expire_timestamp_ms
        writes = commit.writes
        for number, one in enumerate(offsets):
            metadata = one.committed_metadata or ""
            if metadata and metadata_units(metadata) > self._max_metadata_units:
                refused.append((number, OffsetMetadataTooLarge()))
                continue
            committed = CommittedOffset(
                one.committed_offset,
                one.committed_leader_epoch,
                metadata,
                now_ms,
                expires_ms,
                topic_id,
            )
            writes.append((group_id, name, one.partition_index, committed))
        return refused

    def persist(self, commit: OffsetCommit, then: Done) -> None:
        self._offsets.persist(commit.group_id, commit.writes, then)
