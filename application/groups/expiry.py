"""Expiry: offsets that have outlived their retention go, and empty groups that have none left.

There may be very many, so they are looked through a slice at a time; what changes in between is
looked at as it is then, and what is being written is left for the next round.
"""

from __future__ import annotations

from collections.abc import Iterator

from application.groups.delete import DeleteGroupsService
from application.groups.group_log import GroupLog
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.ports.clock import Clock
from application.ports.offset_repository import OffsetWrite
from application.state.runtime import Done
from application.upkeep.spare_time import SpareTime
from domain.configs.broker import BrokerConfig
from domain.errors import StorageFailed
from domain.groups.group import Group
from domain.groups.offsets import CommittedOffset, counts_from, is_expired

#: So many offsets are looked at in one pass, or so many found that go,
OFFSETS_PER_SLICE = 1000
ROWS_PER_SLICE = 100
#: (a group counts for so many),
ROWS_PER_GROUP = 4
#: with so long a pause in between.
PAUSE_MS = 5

MINUTE_MS = 60_000

#: An offset that goes, a group that goes with all it has left, or one look at what stays.
Found = OffsetWrite | Group | None


class OffsetExpiry:
    def __init__(
        self,
        offsets: Offsets,
        groups: Groups,
        delete_groups: DeleteGroupsService,
        clock: Clock,
        spare_time: SpareTime,
        config: BrokerConfig,
        log: GroupLog,
    ) -> None:
        self._offsets = offsets
        self._groups = groups
        self._delete_groups = delete_groups
        self._clock = clock
        self._spare_time = spare_time
        self._log = log
        self._retention_ms = config.offsets_retention_minutes * MINUTE_MS
        self._slice = 0
        self._interval_ms = config.offsets_retention_check_interval_ms

    def start(self) -> None:
        self._spare_time.after_ms(self._interval_ms, self._begin)

    def _begin(self) -> None:
        if self._offsets.loaded:
            self._go_on(self._round(self._clock.now_ms()))
        else:
            self.start()

    def _go_on(self, found: Iterator[Found]) -> None:
        rows: dict[str, list[OffsetWrite]] = {}
        going = 0
        self._slice += 1
        for looked_at, one in enumerate(found, 1):
            if isinstance(one, Group):
                # With what was found of it in this slice, and is not asked for twice.
                rows.pop(one.group_id, None)
                self._delete_groups.remove(one, expired=True)
                going += ROWS_PER_GROUP
            elif one is not None:
                rows.setdefault(one[0], []).append(one)
                going += 1
            if looked_at >= OFFSETS_PER_SLICE or going >= ROWS_PER_SLICE:
                self._spare_time.after_ms(PAUSE_MS, lambda: self._go_on(found))
                break
        else:
            self.start()
        for group_id, writes in rows.items():
            self._offsets.keep(group_id, writes, self._telling(group_id, len(writes)))

    def _telling(self, group_id: str, offsets: int) -> Done:
        def gone(failure: StorageFailed | None) -> None:
            if failure is None:
                self._log.offsets_expired(group_id, offsets)

        return gone

    def _round(self, now_ms: int) -> Iterator[Found]:
        for group_id in [group.group_id for group in self._groups]:
            group = self._groups.find(group_id)
            if group is not None:
                yield from self._of_group(group, now_ms)

    def _of_group(self, group: Group, now_ms: int) -> Iterator[Found]:
        group_id = group.group_id
        going: dict[tuple[str, int], CommittedOffset] = {}
        for topic, partitions in list(self._offsets.of(group_id).items()):
            asked_in, counted_from = -1, None
            for partition, committed in list(partitions.items()):
                if asked_in != self._slice:
                    # Members come and go between two slices, and not within one.
                    asked_in, counted_from = self._slice, self._counts_from(group, topic)
                if is_expired(
                    committed, counted_from, now_ms, self._retention_ms
                ) and self._is_still(group_id, topic, partition, committed):
                    going[topic, partition] = committed
                    yield (group_id, topic, partition, None)
                else:
                    yield None
        yield group if self._nothing_else_is_left(group, going) else None

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
