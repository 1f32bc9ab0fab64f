"""Resets committed offsets, by the rules of kafka-consumer-groups.

Partitions are looked up in slices, and all offsets are committed together. A group with members is
refused: they would go on from their own positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from application.background.job import SLICE, Job, Outcome
from application.groups.offset_commit import OffsetCommit, OffsetCommitService
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.partitions.list_offsets import (
    UNKNOWN_OFFSET,
    FoundOffset,
    ListOffsetsService,
    Search,
)
from application.partitions.reading import load_all
from application.ports.pending import Pending
from application.state.catalog import Catalog
from domain.errors import (
    BrokerError,
    InvalidGroupId,
    InvalidRequest,
    NonEmptyGroup,
    UnknownTopicOrPartition,
)
from domain.groups.group import NO_EPOCH
from domain.partitions.partition import Partition


class ResetStrategy(Enum):
    EARLIEST = "earliest"
    LATEST = "latest"
    OFFSET = "offset"
    TIMESTAMP = "timestamp"
    SHIFT_BY = "shift_by"


class ResetTarget(NamedTuple):
    strategy: ResetStrategy
    #: The offset, the timestamp in milliseconds, or the distance.
    value: int = 0


class Reset(NamedTuple):
    topic: str
    partition: int
    #: None: no committed offset.
    before: int | None
    after: int
    start: int
    end: int


class ResetOffsetsService:
    def __init__(
        self,
        groups: Groups,
        offsets: Offsets,
        catalog: Catalog,
        list_offsets: ListOffsetsService,
        commit: OffsetCommitService,
    ) -> None:
        self._groups = groups
        self._offsets = offsets
        self._catalog = catalog
        self._list_offsets = list_offsets
        self._commit = commit

    def reset(
        self,
        group_id: str,
        topic: str | None,
        partitions: Sequence[int] | None,
        target: ResetTarget,
        dry_run: bool,
    ) -> Job[list[Reset]]:
        """Raises if the whole reset is refused. Without a topic: all committed offsets."""
        self._check(group_id)
        resets: list[Reset] = []
        places = self._partitions(group_id, topic, partitions)
        yield from load_all(self._catalog, places)
        for each in places:
            resets.append((yield from self._reset_of(group_id, *each, target)))
            yield SLICE
        if resets and not dry_run:
            yield from self._commit_all(group_id, resets)
        return resets

    def _partitions(
        self, group_id: str, topic: str | None, partitions: Sequence[int] | None
    ) -> list[tuple[str, int]]:
        if topic is None:
            if partitions is not None:
                raise InvalidRequest("Partitions need a topic.")
            self._groups.existing(group_id)
            return sorted(self._offsets.partitions(group_id))
        found = self._catalog.topic(topic)
        if found is None:
            raise UnknownTopicOrPartition(f"There is no topic {topic}")
        count = len(found.partition_ids)
        if partitions is None:
            partitions = range(count)
        unknown = [index for index in partitions if not 0 <= index < count]
        if unknown:
            raise UnknownTopicOrPartition(f"Topic {topic} has no partition {unknown[0]}.")
        return [(topic, index) for index in sorted(set(partitions))]

    def _check(self, group_id: str) -> None:
        if not group_id:
            raise InvalidGroupId("The group id is empty.")
        self._offsets.check_coordinated(group_id)
        group = self._groups.find(group_id)
        if group is not None and not group.is_empty:
            raise NonEmptyGroup(
                f"Assignments can only be reset if the group '{group_id}' is inactive, but the "
                f"current state is {group.state_name}."
            )

    def _reset_of(self, group_id: str, topic: str, index: int, target: ResetTarget) -> Job[Reset]:
        """Clamped to the log start and the log end, as in Kafka's tool."""
        partition = self._catalog.existing_partition(topic, index)
        start, end = partition.log_start_offset, partition.high_watermark
        committed = self._offsets.of(group_id).get(topic, {}).get(index)
        before = None if committed is None else committed.offset
        if target.strategy is ResetStrategy.EARLIEST:
            offset = start
        elif target.strategy is ResetStrategy.LATEST:
            offset = end
        elif target.strategy is ResetStrategy.OFFSET:
            offset = target.value
        elif target.strategy is ResetStrategy.TIMESTAMP:
            found = yield from self._find(partition, max(target.value, 0))
            offset = end if found.offset == UNKNOWN_OFFSET else found.offset
        elif before is not None:
            offset = before + target.value
        else:
            raise InvalidRequest(
                f"Cannot shift offset for partition {topic}-{index} since "
                "there is no current committed offset"
            )
        return Reset(topic, index, before, max(start, min(offset, end)), start, end)

    def _find(self, partition: Partition, timestamp: int) -> Job[FoundOffset]:
        found = self._list_offsets.find(partition, timestamp, read_committed=False)
        if not isinstance(found, Search):
            return found
        if (searching := self._list_offsets.complete([found])) is not None:
            yield searching
        assert found.result is not None
        if isinstance(found.result, BrokerError):
            raise found.result
        return found.result

    def _commit_all(self, group_id: str, resets: Sequence[Reset]) -> Job[None]:
        """All or none; refused if a member has joined meanwhile."""
        commit = OffsetCommit(group_id, "", None, NO_EPOCH)
        self._commit.begin(commit)
        for reset in resets:
            topic = self._catalog.topic(reset.topic)
            if topic is not None:  # else it was deleted meanwhile
                partition = self._catalog.existing_partition(reset.topic, reset.partition)
                epoch = partition.leader_epochs.at(reset.after)
                requested = _RequestedOffset(reset.partition, reset.after, epoch)
                self._commit.add(commit, topic, (requested,))
            yield SLICE
        self._check(group_id)
        self._commit.check(commit)
        durable: Pending[Outcome] = Pending()
        self._commit.persist(commit, durable.resolve)
        failure: Outcome = yield durable
        if failure is not None:
            raise failure


@dataclass
class _RequestedOffset:
    """Satisfies RequestedOffset."""

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None = None
