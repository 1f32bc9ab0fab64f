"""Expiry: removes committed offsets after their retention, and empty groups without offsets.

A slice sees the state of its own time; offsets that are being written wait for the next round.
"""

from __future__ import annotations

from functools import partial

from application.background.job import SLICE, Job
from application.background.runner import Runner
from application.groups.delete import DeleteGroupsService
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.offset_repository import OffsetWrite
from application.state.runtime import if_durable
from domain.configs.broker import BrokerConfig
from domain.groups.group import Group
from domain.groups.offsets import counts_from, is_expired

#: Offsets checked in one step, and expired ones removed in one write.
OFFSETS_PER_STEP = 1000
ROWS_PER_STEP = 100

MINUTE_MS = 60_000


class OffsetExpiry:
    def __init__(
        self,
        offsets: Offsets,
        groups: Groups,
        delete_groups: DeleteGroupsService,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        events: EventLog,
    ) -> None:
        self._offsets = offsets
        self._groups = groups
        self._delete_groups = delete_groups
        self._clock = clock
        self._background = background
        self._events = events
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
            if group is not None:
                yield from self._expire_group(group, now_ms)

    def _expire_group(self, group: Group, now_ms: int) -> Job[None]:
        group_id = group.group_id
        #: Of each write that is durable.
        removed: list[int] = []
        expired: list[OffsetWrite] = []
        current_topic, retained_from = None, None
        for checked, (topic, partition) in enumerate(self._offsets.partitions(group_id), 1):
            if topic != current_topic:
                current_topic, retained_from = topic, self._counts_from(group, topic)
            committed = self._offsets.of(group_id).get(topic, {}).get(partition)
            if (
                committed is not None
                and is_expired(committed, retained_from, now_ms, self._retention_ms)
                and not self._offsets.pending.has(group_id, topic, partition)
            ):
                expired.append((group_id, topic, partition, None))
            if checked % OFFSETS_PER_STEP == 0 or len(expired) == ROWS_PER_STEP:
                self._remove(group_id, expired, removed)
                yield SLICE
                # Members may have joined or left during the slice.
                expired, current_topic = [], None
                if self._groups.find(group_id) is not group:
                    break
        self._remove(group_id, expired, removed)
        self._offsets.runtime.when_durable(
            group_id, lambda _: self._log_removed(group_id, sum(removed))
        )
        is_unused = group.is_empty and not self._offsets.has_any(group_id)
        if is_unused and self._groups.find(group_id) is group:
            self._delete_groups.remove(group, "expired")
        yield SLICE

    def _log_removed(self, group_id: str, offsets: int) -> None:
        if offsets:
            self._events.info("offsets_expired", group=group_id, offsets=offsets)

    def _remove(self, group_id: str, expired: list[OffsetWrite], removed: list[int]) -> None:
        if expired:
            then = if_durable(partial(removed.append, len(expired)))
            self._offsets.persist(group_id, expired, then)

    def _counts_from(self, group: Group, topic: str) -> int | None:
        if self._offsets.has_pending_commit(group.group_id):
            return None
        return counts_from(group, topic)
