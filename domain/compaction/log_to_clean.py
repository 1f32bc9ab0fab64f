"""LogToClean: how much of a log is dirty, and whether compaction is due, as Kafka decides it.

    log start  clean  first dirty offset  cleanable  first uncleanable offset  not yet  log end

What is clean was compacted by an earlier pass. The active segment is not cleanable, nor batches
above the last stable offset, nor those younger than `min.compaction.lag.ms`.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from domain.partitions.partition import Partition


class Uncleanable(Enum):
    """Why records are not compacted yet."""

    ACTIVE_SEGMENT = "active_segment"
    OPEN_TRANSACTION = "open_transaction"
    TOO_YOUNG = "min.compaction.lag.ms"
    CLEANER_IS_OFF = "log.cleaner.enable"


class LogToClean(NamedTuple):
    partition: Partition
    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    #: For so long the first dirty batch has been older than `max.compaction.lag.ms`.
    delay_ms: int = 0

    @property
    def size_bytes(self) -> int:
        return self.clean_bytes + self.cleanable_bytes

    @property
    def dirty_ratio(self) -> float:
        return self.cleanable_bytes / self.size_bytes if self.size_bytes else 0.0

    @property
    def uncleanable_offsets(self) -> int:
        return max(self.partition.durable.next_offset - self.first_uncleanable_offset, 0)

    @property
    def uncleanable(self) -> Uncleanable | None:
        if not self.uncleanable_offsets:
            return None
        if self.first_uncleanable_offset >= self.partition.segment.base_offset:
            return Uncleanable.ACTIVE_SEGMENT
        if self.first_uncleanable_offset == self.partition.last_stable_offset:
            return Uncleanable.OPEN_TRANSACTION
        return Uncleanable.TOO_YOUNG

    @property
    def is_due(self) -> bool:
        if not self.cleanable_bytes:
            return False
        return self.delay_ms > 0 or self.dirty_ratio > self.partition.config.min_cleanable_ratio

    def limited(self, first_uncleanable_offset: int) -> LogToClean:
        """By an open transaction, or `min.compaction.lag.ms`.

        The size is in proportion to the offsets.
        """
        end = min(
            max(first_uncleanable_offset, self.first_dirty_offset), self.first_uncleanable_offset
        )
        offsets = self.first_uncleanable_offset - self.first_dirty_offset
        share = (end - self.first_dirty_offset) / offsets if offsets else 0
        cleanable_bytes = int(self.cleanable_bytes * share)
        return self._replace(first_uncleanable_offset=end, cleanable_bytes=cleanable_bytes)

    def overdue(self, first_timestamp: int, now_ms: int) -> LogToClean:
        if first_timestamp < 0:
            return self
        latest_ms = first_timestamp + self.partition.config.max_compaction_lag_ms
        return self._replace(delay_ms=max(now_ms - latest_ms, 0))


def log_to_clean(partition: Partition) -> LogToClean:
    """Without regard to compaction lags."""
    end = partition.durable
    first_dirty = max(partition.cleaned.next_offset, end.start_offset)
    first_uncleanable = partition.segment.base_offset
    if first_uncleanable >= end.next_offset:
        # The batch that began the segment may be lost: then an earlier one is active again.
        first_uncleanable = first_dirty
    first_uncleanable = max(first_uncleanable, first_dirty)
    clean_bytes = min(partition.cleaned.size_bytes, end.size_bytes)
    cleanable_bytes = 0
    if first_uncleanable > first_dirty:
        active_bytes = partition.segment.state(partition.end.appended_bytes).size_bytes
        cleanable_bytes = max(partition.end.size_bytes - clean_bytes - active_bytes, 1)
    found = LogToClean(partition, first_dirty, first_uncleanable, clean_bytes, cleanable_bytes)
    return found if end.first_unstable is None else found.limited(partition.last_stable_offset)
