"""A log as a list of batches, and passes of the cleaner over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from application.background.worker import WorkerPart
from application.partitions.cleaning import (
    CleaningEnd,
    CleaningJob,
    encode_replacement,
    make_codecs,
)
from application.partitions.opened_batch import open_batch
from application.ports.log_store import LogStore
from application.ports.pending import Pending, resolved
from domain.compaction.cleaner import Cleaner, CleaningPlan, Codecs, Replacement
from domain.errors import InvalidRecord, StorageFailed
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.messages.message import Message, decode_messages
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression
from tests.fakes.broker import InProcessBroker

COMPRESSION = BatchCompression()
CODECS = Codecs(partial(open_batch, compression=COMPRESSION), COMPRESSION.compress, crc32c)
LARGE_MAP_BYTES = 1 << 30


class BatchLog:
    def __init__(self) -> None:
        self.batches: list[RecordBatch] = []
        self.next_offset = 0
        #: Base offsets of batches that the cleaner cannot open.
        self.unreadable: set[int] = set()

    def append(self, batch: bytearray) -> None:
        """At the log end, as a partition appends it."""
        appended = RecordBatch(memoryview(batch))
        appended.set_offset(self.next_offset, 0)
        self.batches.append(appended)
        self.next_offset = appended.last_offset + 1

    def read(self, offset: int, end_offset: int, max_bytes: int) -> bytes:
        found = b""
        for batch in self.batches:
            if offset <= batch.last_offset < end_offset:
                if found and len(found) + batch.size_bytes > max_bytes:
                    break
                found += batch.buffer
        return found

    def replace(self, step: Replacement) -> None:
        new = [RecordBatch(memoryview(bytes(each))) for each in step.batches]
        within = [b for b in self.batches if step.first_offset <= b.last_offset <= step.last_offset]
        assert within[0].base_offset == step.first_offset
        assert within[-1].last_offset == step.last_offset
        first = self.batches.index(within[0])
        self.batches[first : first + len(within)] = new

    def messages(self) -> list[Message]:
        return [message for batch in self.batches for message in messages_of(batch)]

    def compact(self, **plan: Any) -> Cleaner:
        """A whole pass; `plan` is that of `cleaner`."""
        cleaner = self.cleaner(**plan)
        for step in run(self, cleaner):
            self.replace(step)
        return cleaner

    def cleaner(
        self,
        *,
        dirty: int = 0,
        end: int | None = None,
        start: int = 0,
        now_ms: int = 0,
        delete_retention_ms: int = 1000,
        producers: Mapping[int, int] | None = None,
        map_bytes: int = LARGE_MAP_BYTES,
        **transactions: Any,
    ) -> Cleaner:
        end = self.next_offset if end is None else end
        plan = CleaningPlan(
            start, dirty, end, now_ms, delete_retention_ms, producers or {}, map_bytes
        )
        return Cleaner(
            plan._replace(**transactions),
            CODECS._replace(open_batch=self._open),
        )

    def _open(self, batch: RecordBatch) -> bytes:
        if batch.base_offset in self.unreadable:
            raise InvalidRecord("Too many records")
        return open_batch(batch, COMPRESSION)


def run(log: BatchLog, cleaner: Cleaner, max_bytes: int = 1 << 20) -> Iterator[Replacement]:
    """The replacements of a pass, which the caller makes."""
    while not cleaner.is_done:
        step = cleaner.advance(log.read(cleaner.position, cleaner.end_offset, max_bytes))
        if step is not None:
            yield step


class FakeWorker:
    """Computes at once, and fails once it has returned `parts` parts."""

    def __init__(self, parts: int = 1000) -> None:
        self.parts = parts
        self.is_closed = False
        self.jobs: list[CleaningJob] = []
        self._output: list[WorkerPart[CleaningEnd]] = []

    def start(self, plan: CleaningJob, log: LogStore) -> FakeWorker:
        self.jobs.append(plan)
        self._output = list(self._parts(plan, log))
        return self

    def _parts(self, job: CleaningJob, log: LogStore) -> Iterable[WorkerPart[CleaningEnd]]:
        cleaner = Cleaner(job.plan, make_codecs(BatchCompression(), crc32c))
        while not cleaner.is_done:
            data = log.read(job.partition_id, cleaner.position, cleaner.end_offset, 300, True)
            replacement = cleaner.advance(data)
            if replacement is not None:
                yield WorkerPart(2 * encode_replacement(replacement))
        yield WorkerPart(b"", CleaningEnd(cleaner.stats, cleaner.end_offset))

    def next(self) -> Pending[WorkerPart[CleaningEnd]]:
        self.parts -= 1
        if self.parts < 0:
            return resolved(WorkerPart(b"", StorageFailed("the process was killed")))
        return resolved(self._output.pop(0))

    def close(self) -> None:
        self.is_closed = True


def messages_of(batch: RecordBatch) -> list[Message]:
    opened = open_batch(batch, COMPRESSION)
    stamped = batch.max_timestamp if batch.attributes & LOG_APPEND_TIME else None
    return list(
        decode_messages(opened, batch.base_offset, batch.base_timestamp, batch.count, stamped)
    )


def compact(
    fake: InProcessBroker,
    end_offset: int,
    name: str = "t",
    producers: Mapping[int, int] | None = None,
) -> None:
    """A pass over partition 0 of a topic, up to an offset."""
    partition = fake.partition(name)
    plan = CleaningPlan(0, 0, end_offset, 0, 1000, producers or {}, LARGE_MAP_BYTES)
    cleaner = Cleaner(plan, CODECS)
    log, partition_id = fake.core.storage.log, partition.partition_id
    while not cleaner.is_done:
        data = log.read(partition_id, cleaner.position, cleaner.end_offset, 1 << 20, True)
        step = cleaner.advance(data)
        if step is not None:
            partition.compacted(log.replace(partition_id, *step))
    partition.cleaned_up_to(cleaner.end_offset, cleaner.stats.bytes_written)
    fake.broker.commits.touch(partition)
    fake.run()
