"""Resetting offsets: where a group is to go on reading, as Kafka's own tool decides it.

    places -> look (each) -> searched -> reset (each) -> keep

What is to be set is looked up a partition at a time, so that long lists can be done in slices, and
shown before it is done. A group with members is left alone: they would not notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from application.background.job import SLICE, Job, Outcome
from application.background.runner import JobResult, Runner
from application.groups.offset_commit import OffsetCommit, OffsetCommitService
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.partitions.list_offsets import (
    UNKNOWN_OFFSET,
    ListOffsetsService,
    Search,
)
from application.ports.pending import Pending
from application.state.catalog import Catalog
from domain.errors import (
    BrokerError,
    GroupIdNotFound,
    InvalidGroupId,
    InvalidRequest,
    NonEmptyGroup,
    StorageFailed,
    UnknownTopicOrPartition,
)
from domain.groups.group import NO_EPOCH


class Aim(Enum):
    EARLIEST = "earliest"
    LATEST = "latest"
    OFFSET = "offset"
    TIMESTAMP = "timestamp"
    SHIFT_BY = "shift_by"


class Target(NamedTuple):
    aim: Aim
    #: The offset, the time in milliseconds, or how far; of the others nothing.
    value: int = 0


class Place(NamedTuple):
    topic: str
    partition: int


class Look(NamedTuple):
    """A partition as it was found, and where its group is to go on, or who looks for that."""

    place: Place
    before: int | None
    start: int
    end: int
    wanted: int | Search


class Reset(NamedTuple):
    place: Place
    #: None: nothing was committed.
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
        background: Runner,
    ) -> None:
        self._groups = groups
        self._offsets = offsets
        self._catalog = catalog
        self._list_offsets = list_offsets
        self._commit = commit
        self._background = background

    def places(
        self, group_id: str, topic: str | None, partitions: Sequence[int] | None
    ) -> list[Place]:
        """What is to be set; without a topic, whatever the group has committed.

        Raises what the whole is refused with.
        """
        self._check(group_id)
        if topic is None:
            if partitions is not None:
                raise InvalidRequest("Partitions are named, and no topic they are of.")
            if self._groups.find(group_id) is None:
                raise GroupIdNotFound(f"Group {group_id} not found.")
            return sorted(Place(*one) for one in self._offsets.partitions(group_id))
        found = self._catalog.topic(topic)
        if found is None:
            raise UnknownTopicOrPartition(f"There is no topic {topic}")
        count = len(found.partition_ids)
        if partitions is None:
            partitions = range(count)
        strangers = [index for index in partitions if not 0 <= index < count]
        if strangers:
            raise UnknownTopicOrPartition(f"Topic {topic} has no partition {strangers[0]}.")
        return [Place(topic, index) for index in sorted(set(partitions))]

    def _check(self, group_id: str) -> None:
        if not group_id:
            raise InvalidGroupId("A group has a name.")
        self._offsets.check_coordinated(group_id)
        group = self._groups.find(group_id)
        if group is not None and not group.is_empty:
            raise NonEmptyGroup(
                f"Assignments can only be reset if the group '{group_id}' is inactive, but the "
                f"current state is {group.state_name}."
            )

    def look(self, group_id: str, place: Place, target: Target) -> Look:
        partition = self._catalog.existing_partition(*place)
        start, end = partition.log_start_offset, partition.high_watermark
        committed = self._offsets.of(group_id).get(place.topic, {}).get(place.partition)
        before = None if committed is None else committed.offset
        wanted: int | Search
        if target.aim is Aim.EARLIEST:
            wanted = start
        elif target.aim is Aim.LATEST:
            wanted = end
        elif target.aim is Aim.OFFSET:
            wanted = target.value
        elif target.aim is Aim.SHIFT_BY:
            if before is None:
                raise InvalidRequest(
                    f"Cannot shift offset for partition {place.topic}-{place.partition} since "
                    "there is no current committed offset"
                )
            wanted = before + target.value
        else:
            found = self._list_offsets.find(partition, max(target.value, 0), read_committed=False)
            wanted = found if isinstance(found, Search) else _or_end(found.offset, end)
        return Look(place, before, start, end, wanted)

    def searched(self, looks: Sequence[Look]) -> JobResult[None] | None:
        """Resolved when all moments are found; None: they are."""
        searches = [look.wanted for look in looks if isinstance(look.wanted, Search)]
        return self._list_offsets.complete(searches) if searches else None

    def reset(self, look: Look) -> Reset:
        """Within what there is: as Kafka's tool, not below the start, not beyond the end."""
        wanted = look.wanted
        if isinstance(wanted, Search):
            found = wanted.result
            assert found is not None
            if isinstance(found, BrokerError):
                raise found
            wanted = _or_end(found.offset, look.end)
        after = max(look.start, min(wanted, look.end))
        return Reset(look.place, look.before, after, look.start, look.end)

    def keep(self, group_id: str, resets: Sequence[Reset]) -> JobResult[StorageFailed | None]:
        """All of them or none; refused where somebody has become a member meanwhile."""
        return self._background.answer(self._kept(group_id, resets))

    def _kept(self, group_id: str, resets: Sequence[Reset]) -> Job[StorageFailed | None]:
        self._check(group_id)
        if not resets:
            return None
        commit = OffsetCommit(group_id, "", None, NO_EPOCH)
        self._commit.begin(commit)
        for reset in resets:
            topic = self._catalog.topic(reset.place.topic)
            if topic is not None:  # else deleted meanwhile
                partition = self._catalog.existing_partition(*reset.place)
                epoch = partition.leader_epochs.at(reset.after)
                wanted = _Wanted(reset.place.partition, reset.after, epoch)
                self._commit.add(commit, topic, (wanted,))
            yield SLICE
        self._check(group_id)
        self._commit.check(commit)
        durable: Pending[Outcome] = Pending()
        self._commit.keep(commit, durable.resolve)
        failure: Outcome = yield durable
        return failure


class _Wanted:
    """An offset as OffsetCommitService takes it."""

    __slots__ = (
        "committed_leader_epoch", "committed_metadata", "committed_offset", "partition_index",
    )  # fmt: skip

    def __init__(
        self, partition_index: int, committed_offset: int, committed_leader_epoch: int
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata: str | None = ""


def _or_end(found: int, end: int) -> int:
    """Nothing is as late as that: what comes next is."""
    return end if found == UNKNOWN_OFFSET else found
