"""CleaningJob: one pass of compaction, for the loop or a worker, and its output as bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from struct import Struct
from typing import NamedTuple, Protocol

from application.background.worker import RunningWork
from application.partitions.opened_batch import open_batch
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from domain.compaction.cleaner import (
    Cleaner,
    CleanerStats,
    CleaningPlan,
    Codecs,
    Replacement,
)
from domain.messages.batch import Checksum, batches_in

#: First and last offset, bytes of batches, entries of the timestamp index.
_REPLACEMENT = Struct(">qqII")
_INDEX_ENTRY = Struct(">qq")


@dataclass(slots=True)
class CleaningJob:
    partition_id: int
    plan: CleaningPlan
    #: Bytes of one read, which is at least a batch.
    read_bytes: int
    max_bytes_per_second: float
    #: Workers ask every job for its time limit: none.
    budget_ms: int | None = None
    #: Demanded by `max.compaction.lag.ms`: a worker with idle priority might never get to it.
    is_urgent: bool = False


class CleaningEnd(NamedTuple):
    stats: CleanerStats
    #: The first dirty offset from now on.
    end_offset: int


class CleaningWorkers(Protocol):
    def start(self, plan: CleaningJob, log: LogStore) -> RunningWork[CleaningEnd] | None:
        """None if no worker can start.

        The output are encoded replacements, and empty parts, so that the broker can end the pass.
        """
        ...


def make_codecs(compression: Compression, checksum: Checksum) -> Codecs:
    return Codecs(partial(open_batch, compression=compression), compression.compress, checksum)


#: So that a pass notices at least so often that its topic was deleted.
LONGEST_PAUSE_MS = 1000


class Throttle:
    """Limits the bytes of a pass, read and written, per second: also after a wait for the disk."""

    def __init__(self, max_bytes_per_second: float, now_ms: int) -> None:
        self._max_bytes_per_second = max(max_bytes_per_second, 1)
        self._size_bytes = 0
        #: When so many bytes are allowed.
        self._due_ms: float = now_ms

    def pause_ms(self, stats: CleanerStats, now_ms: int) -> int:
        """Until so many bytes are allowed, or until the caller has to look again."""
        size_bytes = stats.map_bytes_read + stats.bytes_read + stats.bytes_written
        added_ms = 1000 * (size_bytes - self._size_bytes) / self._max_bytes_per_second
        self._size_bytes = size_bytes
        self._due_ms = max(self._due_ms, now_ms - 1000) + added_ms
        return max(min(int(self._due_ms) - now_ms, LONGEST_PAUSE_MS), 0)


def read_checked(log: LogStore, job: CleaningJob, cleaner: Cleaner, max_bytes: int) -> bytes:
    """What the cleaner takes next.

    Raises StorageFailed if an offset is damaged, which no checksum covers: the pass would take
    batches for others, and remove them.
    """
    data = log.read(job.partition_id, cleaner.position, cleaner.end_offset, max_bytes, True)
    count = sum(1 for _ in batches_in(data))
    log.headers(job.partition_id, cleaner.position, count, waits=True)
    return data


def encode_replacement(replacement: Replacement) -> bytes:
    batches = b"".join(replacement.batches)
    indexed = b"".join(_INDEX_ENTRY.pack(*entry) for entry in replacement.indexed)
    first_offset, last_offset = replacement[:2]
    head = _REPLACEMENT.pack(first_offset, last_offset, len(batches), len(replacement.indexed))
    return b"".join((head, batches, indexed))


def decode_replacements(data: bytes) -> Iterator[Replacement]:
    """Of whole ones."""
    start = 0
    while start < len(data):
        first_offset, last_offset, size_bytes, entries = _REPLACEMENT.unpack_from(data, start)
        start += _REPLACEMENT.size
        batches = [one.buffer for one in batches_in(data[start : start + size_bytes])]
        start += size_bytes
        end = start + entries * _INDEX_ENTRY.size
        indexed = list(_INDEX_ENTRY.iter_unpack(data[start:end]))
        start = end
        yield Replacement(first_offset, last_offset, list(batches), indexed)
