"""Expiry: offsets that have outlived their retention go, and empty groups that have none left.

What changes between two slices is looked at as it is then, and what is being written is left for
the next round.
"""

from __future__ import annotations

from collections.abc import Iterator

from application.background.job import SLICE, Job
from application.background.runner import Runner
from application.groups.delete import DeleteGroupsService
from application.groups.group_log import GroupLog
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.ports.clock import Clock
from application.ports.offset_repository import OffsetWrite
from application.state.runtime import Done
from domain.configs.broker import BrokerConfig
from domain.errors import StorageFailed
from domain.groups.group import Group
from domain.groups.offsets import CommittedOffset, counts_from, is_expired

#: One step ends after so many offsets, or so many of them that have expired.
OFFSETS_PER_STEP = 1000
ROWS_PER_STEP = 100

MINUTE_MS = 60_000

Offset = tuple[str, int, CommittedOffset]


class OffsetExpiry:
    def __init__(
        self,
        offsets: Offsets,
        groups: Groups,
        delete_groups: DeleteGroupsService,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        log: GroupLog,
    ) -> None:
        self._offsets = offsets
        self._groups = groups
        self._delete_groups = delete_groups
        self._clock = clock
        self._background = background
        self._log = log
        self._retention_ms = config.offsets_retention_minutes * MINUTE_MS
        self._interval_ms = config.offsets_retention_check_interval_ms

    def start(self) -> None:
        self._background.every(self._interval_ms, self._expire)

    def _expire(self) -> Job[None]:
        if not self._offsets.loaded:
            return
        now_ms = self._clock.now_ms()
        for group_id in [group.group_id for group in self._groups]:
            group = self._groups.find(group_id)
            if group is not None and self._offsets.coordinates(group_id):
                yield from self._expire_group(group, now_ms)

    def _expire_group(self, group: Group, now_ms: int) -> Job[None]:
        going: dict[tuple[str, int], CommittedOffset] = {}
        found: list[OffsetWrite] = []
        asked_for, counted_from = None, None
        for looked_at, (topic, partition, committed) in enumerate(self._offsets_of(group), 1):
            if topic != asked_for:
                asked_for, counted_from = topic, self._counts_from(group, topic)
            if is_expired(committed, counted_from, now_ms, self._retention_ms) and self._is_still(
                group.group_id, topic, partition, committed
            ):
                going[topic, partition] = committed
                found.append((group.group_id, topic, partition, None))
            if looked_at % OFFSETS_PER_STEP == 0 or len(found) == ROWS_PER_STEP:
                self._remove(group.group_id, found)
                yield SLICE
                # Members come and go between two slices, and not within one step.
                found, asked_for = [], None
        if self._nothing_else_is_left(group, going):
            self._delete_groups.remove(group, expired=True)
        else:
            self._remove(group.group_id, found)
        yield SLICE

    def _offsets_of(self, group: Group) -> Iterator[Offset]:
        for topic, partitions in list(self._offsets.of(group.group_id).items()):
            for partition, committed in list(partitions.items()):
                yield topic, partition, committed

    def _remove(self, group_id: str, writes: list[OffsetWrite]) -> None:
        if writes:
            self._offsets.keep(group_id, writes, self._telling(group_id, len(writes)))

    def _telling(self, group_id: str, offsets: int) -> Done:
        def gone(failure: StorageFailed | None) -> None:
            if failure is None:
                self._log.offsets_expired(group_id, offsets)

        return gone

    def _counts_from(self, group: Group, topic: str) -> int | None:
        if self._offsets.has_commit_under_way(group.group_id):
            return None
        return counts_from(group, topic)

    def _is_still(
        self, group_id: str, topic: str, partition: int, committed: CommittedOffset
    ) -> bool:
        return self._offsets.of(group_id).get(topic, {}).get(
            partition
        ) is committed and not self._offsets.is_unstable(group_id, topic, partition)

    def _nothing_else_is_left(
        self, group: Group, going: dict[tuple[str, int], CommittedOffset]
    ) -> bool:
        """Of an empty group, as it is now: it may have been looked through in several slices."""
        group_id = group.group_id
        return (
            group.is_empty
            and self._groups.find(group_id) is group
            and not self._offsets.has_commit_under_way(group_id)
            and all(
                going.get((topic, partition)) is committed
                for topic, partitions in self._offsets.of(group_id).items()
                for partition, committed in partitions.items()
            )
        )
