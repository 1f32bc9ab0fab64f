"""Partitions that compaction failed for: each waits before the next pass, twice as long each time.

A pass reads the log up to what cannot be read, and that seldom changes. Kafka's cleaner leaves such
a partition alone until the broker is restarted.
"""

from __future__ import annotations

from application.ports.clock import Clock

LONGEST_WAIT_MS = 60 * 60_000


class _Failed:
    __slots__ = ("dirty_bytes", "error", "until_ms", "wait_ms")

    def __init__(self) -> None:
        self.error = ""
        self.dirty_bytes = self.wait_ms = self.until_ms = 0


class FailedPasses:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        #: By partition id.
        self._failed: dict[int, _Failed] = {}

    def waiting(self) -> dict[int, int]:
        """Dirty bytes by partition id."""
        now_ms = self._clock.monotonic_ms()
        return {
            partition_id: one.dirty_bytes
            for partition_id, one in self._failed.items()
            if now_ms < one.until_ms
        }

    def add(self, partition_id: int, dirty_bytes: int, error: str, wait_ms: int) -> bool:
        """`wait_ms`: at least. Returns False if the last pass failed for the same reason."""
        one = self._failed.setdefault(partition_id, _Failed())
        one.wait_ms = max(min(2 * one.wait_ms, LONGEST_WAIT_MS), wait_ms)
        one.until_ms = self._clock.monotonic_ms() + one.wait_ms
        one.dirty_bytes = dirty_bytes
        before, one.error = one.error, error
        return error != before

    def remove(self, partition_id: int) -> None:
        self._failed.pop(partition_id, None)

    def retain(self, partition_ids: set[int]) -> None:
        """Forgets the others: deleted ones, and those of another policy."""
        for gone in self._failed.keys() - partition_ids:
            del self._failed[gone]
