"""What retention may remove, and what it has to: in some worlds topics have short limits."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from domain.messages.batch import RecordBatch

if TYPE_CHECKING:
    from tests.simulation.model import Entry

#: Share of the worlds with limits.
PRESENCE = 0.3
CHECK_MS = 40
NO_LIMIT = -1


class Limits:
    def __init__(self, seed: int) -> None:
        random = Random(f"retention of {seed}")  # does not change other worlds
        self.exist = random.random() < PRESENCE
        both = (
            random.choice((NO_LIMIT, 0, 100, 400, 3000)),
            random.choice((NO_LIMIT, NO_LIMIT, 0, 150, 2000)),
        )
        self.retention_ms, self.retention_bytes = both if self.exist else (NO_LIMIT, NO_LIMIT)
        self.headers_at_once = random.choice((1, 3, 128))
        self.partitions_at_once = random.choice((1, 100))

    def settings(self) -> dict[str, str]:
        if not self.exist:
            return {}
        return {
            "log.retention.check.interval.ms": str(CHECK_MS),
            "log.retention.ms": str(self.retention_ms),
            "log.retention.bytes": str(self.retention_bytes),
        }

    def allow(self, removed: Sequence[Entry], left: Sequence[Entry], latest_ms: int) -> bool:
        """Returns True if these batches may go, by any clock up to `latest_ms`."""
        if self.retention_bytes >= 0 and size_of(left) >= self.retention_bytes:
            return True
        return self.retention_ms >= 0 and all(
            time_of(entry) < latest_ms - self.retention_ms for entry in removed
        )

    def has_expired(self, log: Sequence[Entry], now_ms: int) -> bool:
        """Returns True if the oldest batch should have been removed by now."""
        if not log:
            return False
        if 0 <= self.retention_bytes <= size_of(log[1:]):
            return True
        return self.retention_ms >= 0 and time_of(log[0]) < now_ms - self.retention_ms


def time_of(entry: Entry) -> int:
    return RecordBatch(memoryview(entry.data)).max_timestamp


def size_of(entries: Sequence[Entry]) -> int:
    return sum(len(entry.data) for entry in entries)
