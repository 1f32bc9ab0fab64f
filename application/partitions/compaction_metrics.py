"""What is counted of compaction since the start, as in Kafka's LogCleaner and LogCleanerManager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from application.ports.clock import Clock

if TYPE_CHECKING:
    from domain.compaction.cleaner import CleanerStats


class LastPass:
    """The newest pass over a partition."""

    __slots__ = ("at_ms", "records_removed")

    def __init__(self, at_ms: int, records_removed: int) -> None:
        self.at_ms = at_ms
        #: By all passes since the start.
        self.records_removed = records_removed


class CompactionMetrics:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._looked_ms = clock.monotonic_ms()
        #: Of the log that was the dirtiest at the last look.
        self.max_dirty_ratio = 0.0
        #: The longest beyond `max.compaction.lag.ms` of a log in the last run, before its pass.
        self.max_delay_ms = 0
        #: Partitions that could not be compacted in the last run, and what was dirty of them.
        self.uncleanable = 0
        self.uncleanable_bytes = 0
        #: Of the last pass.
        self.recopy_ratio = 0.0
        self.clean_time_ms = 0
        self.buffer_utilization = 0.0
        #: Since the start, of deleted topics too.
        self.records_removed = 0
        #: By partition id.
        self.last_passes: dict[int, LastPass] = {}

    @property
    def since_last_run_ms(self) -> int:
        return self._clock.monotonic_ms() - self._looked_ms

    def looked(self, partition_ids: set[int], max_dirty_ratio: float, max_delay_ms: int) -> None:
        """At the partitions of all compacted topics; others are forgotten."""
        for gone in self.last_passes.keys() - partition_ids:
            del self.last_passes[gone]
        self._looked_ms = self._clock.monotonic_ms()
        self.max_dirty_ratio = max_dirty_ratio
        self.max_delay_ms = max(self.max_delay_ms, max_delay_ms)

    def cleaned(self, partition_id: int, stats: CleanerStats, took_ms: int) -> None:
        self.recopy_ratio = stats.bytes_written / stats.bytes_read if stats.bytes_read else 0.0
        self.clean_time_ms = took_ms
        self.buffer_utilization = stats.buffer_utilization
        before = self.last_passes.get(partition_id)
        removed = stats.messages_read - stats.messages_written
        self.records_removed += removed
        if before is not None:
            removed += before.records_removed
        self.last_passes[partition_id] = LastPass(self._clock.now_ms(), removed)
