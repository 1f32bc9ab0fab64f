"""What is compacted in a world: in some of them topics have keys, and `cleanup.policy=compact`."""

from __future__ import annotations

from contextlib import ExitStack
from random import Random
from typing import cast
from unittest.mock import patch

from application.background.worker import WorkerPart
from application.partitions import log_cleaner
from application.partitions.cleaning import CleaningEnd, CleaningJob
from application.ports.log_store import LogStore
from application.ports.pending import Pending
from domain.compaction import cleaner, offset_map
from tests.fakes.compaction import FakeWorker
from tests.simulation.store import SimulatedStore
from tests.simulation.timeline import ProcessLoop

#: Share of the worlds with compacted topics.
PRESENCE = 0.25
BACKOFF_MS = 30
#: Between two parts of a worker's output.
WORKER_MS = 20


def has_compaction(seed: int) -> bool:
    return Random(f"compaction of {seed}").random() < PRESENCE


class Compaction:
    def __init__(self, seed: int) -> None:
        random = Random(f"compaction of {seed}")  # does not change other worlds
        self.exists = random.random() < PRESENCE
        self.segment_ms = random.choice((1, 20, 100))
        self.delete_retention_ms = random.choice((0, 60, 300))
        self._keys = random.choice((1, 3, 6))
        self._read_bytes = random.choice((1, 400, 32 << 10))
        self._entries = random.choice((1, 4, 1000))
        self._index_bytes = random.choice((1, 400, 1 << 16))
        self._has_workers = random.random() < 0.5
        policies = random.choice(
            (("compact", "compact,delete"), ("compact,delete", "compact"), ("compact", None))
        )
        #: By topic; others have the default.
        self.policies: dict[str, str] = {}
        if self.exists:
            self.policies = {
                name: policy for name, policy in zip("ab", policies, strict=True) if policy
            }

    def settings(self) -> dict[str, str]:
        if not self.exists:
            return {}
        return {
            "log.roll.ms": str(self.segment_ms),
            "log.cleaner.backoff.ms": str(BACKOFF_MS),
            "log.cleaner.min.cleanable.ratio": "0",
            "log.cleaner.delete.retention.ms": str(self.delete_retention_ms),
            "log.cleaner.dedupe.buffer.size": str(2 << 20),
            "log.cleaner.io.buffer.load.factor": "1",
        }

    def shrink(self, context: ExitStack) -> None:
        """Passes of many small steps, and with few keys."""
        context.enter_context(patch.object(log_cleaner, "READ_BYTES_HERE", self._read_bytes))
        context.enter_context(patch.object(log_cleaner, "SMALL_LOG_BYTES", 0))
        context.enter_context(patch.object(cleaner, "INDEX_INTERVAL_BYTES", self._index_bytes))
        entry_bytes = (2 << 20) // self._entries
        context.enter_context(patch.object(offset_map, "ENTRY_BYTES", entry_bytes))

    def worker(self, loop: ProcessLoop, store: SimulatedStore) -> SimulatedWorker | None:
        return SimulatedWorker(loop, store, self._read_bytes) if self._has_workers else None

    def deletes(self, topic: str) -> bool:
        """Whether clients and retention may delete records."""
        return self.policies.get(topic) != "compact"

    def keys(self, topic: str, count: int, random: Random) -> tuple[str, ...] | None:
        """Of the records of a batch."""
        if topic not in self.policies:
            return None
        return tuple(f"k{random.randrange(self._keys)}" for _ in range(count))


class SimulatedWorker(FakeWorker):
    """A worker process: it reads the log at once, and its output arrives slowly."""

    def __init__(self, loop: ProcessLoop, store: SimulatedStore, read_bytes: int) -> None:
        super().__init__()
        self._loop = loop
        self._store = store
        self._read_bytes = read_bytes

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        return self._store.read_disk(
            partition_id, offset, end_offset, self._read_bytes, whole_first
        )

    def start(self, plan: CleaningJob, log: LogStore) -> FakeWorker:
        return super().start(plan, cast(LogStore, self))

    def next(self) -> Pending[WorkerPart[CleaningEnd]]:
        later: Pending[WorkerPart[CleaningEnd]] = Pending()
        self._loop.after_ms(WORKER_MS, lambda: FakeWorker.next(self).then(later.resolve))
        return later
