"""LogCleaner: one pass of compaction over a log.

A worker process reads the log and computes; here its replacements are staged, one in each commit. A
small log without compression is compacted here, in slices, and any log if no worker can start.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain

from application.background.job import COMMIT, SLICE, Job
from application.background.loaded import loaded
from application.background.runner import Runner
from application.background.worker import RunningWork, WorkerPart
from application.partitions.cleaning import (
    CleaningEnd,
    CleaningJob,
    CleaningWorkers,
    Throttle,
    decode_replacements,
    make_codecs,
    read_checked,
)
from application.partitions.reading import first_batch
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.log_store import END_OF_PASS, LogStore, NotInMemory
from application.ports.partition_repository import PartitionRepository
from application.ports.pending import Pending
from application.ports.transaction_index import TransactionIndex
from application.state.catalog import Catalog
from application.state.commits import Commits
from domain.compaction.cleaner import Cleaner, CleanerStats, CleaningPlan, Replacement
from domain.compaction.log_to_clean import LogToClean
from domain.configs.broker import BrokerConfig
from domain.errors import BrokerError
from domain.messages.batch import CONTROL, Buffer, Checksum, RecordBatch, last_offset_of
from domain.partitions.partition import Partition
from domain.partitions.transactions import AbortedTransaction

#: A smaller log is compacted on the loop: a process would take longer to start.
SMALL_LOG_BYTES = 1 << 20
#: Of one read on the loop: a millisecond or two.
READ_BYTES_HERE = 32 << 10
MAX_READ_BYTES = 1 << 20


class LogCleaner:
    def __init__(
        self,
        log: LogStore,
        catalog: Catalog,
        partitions: PartitionRepository,
        transaction_index: TransactionIndex,
        commits: Commits,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        compression: Compression,
        checksum: Checksum,
        workers: CleaningWorkers | None,
    ) -> None:
        self._log = log
        self._catalog = catalog
        self._partitions = partitions
        self._transaction_index = transaction_index
        self._commits = commits
        self._clock = clock
        self._background = background
        self._config = config
        self._codecs = make_codecs(compression, checksum)
        self._workers = workers
        self._running: RunningWork[CleaningEnd] | None = None
        background.at_end(self._close)

    def _close(self) -> None:
        if self._running is not None:
            self._running.close()

    def clean(self, found: LogToClean) -> Job[CleanerStats | None]:
        """None if it was cut. Raises StorageFailed."""
        partition = found.partition
        trimmed_before = partition.trimmed_bytes
        job = yield from self._job(found)
        work = None
        if self._workers is not None and not (yield from self._is_small(found)):
            work = self._workers.start(job, self._log)
        if work is None:
            end = yield from self._clean_here(partition, job)
        else:
            end = yield from self._clean_there(partition, work)
        if end is None or not (yield from self._copy_before(partition, END_OF_PASS)):
            return None
        # The pass may have counted what was trimmed meanwhile. If not, the next one is early.
        trimmed_bytes = partition.trimmed_bytes - trimmed_before
        clean_bytes = max(end.stats.bytes_written - trimmed_bytes, 0)
        partition.cleaned_up_to(end.end_offset, clean_bytes)
        self._commits.touch(partition)
        return end.stats if (yield COMMIT) is None else None

    def _is_small(self, found: LogToClean) -> Job[bool]:
        """A batch that is large or compressed would block the loop for too long."""
        if found.size_bytes > SMALL_LOG_BYTES:
            return False
        partition = found.partition
        large = yield from first_batch(
            self._log,
            partition.partition_id,
            partition.log_start_offset,
            found.first_uncleanable_offset,
            lambda batch: batch.size_bytes > READ_BYTES_HERE or batch.codec > 0,
        )
        return large is None

    def _job(self, found: LogToClean) -> Job[CleaningJob]:
        config, partition = self._config, found.partition
        map_bytes = config.log_cleaner_dedupe_buffer_size * config.log_cleaner_io_buffer_load_factor
        producers: dict[int, int] = {}
        marker_epochs: dict[int, int] = {}
        snapshots = self._partitions.producers(partition.partition_id)
        # Those in memory are newer. A list: others may append between two steps.
        for state in chain(snapshots, list(partition.producers)):
            last_offset = state.batches[-1].last_offset if state.batches else -1
            if 0 <= last_offset < found.first_uncleanable_offset:
                producers[state.producer_id] = last_offset
            else:
                producers.pop(state.producer_id, None)
            if state.batches:
                marker_epochs.pop(state.producer_id, None)
            else:
                marker_epochs[state.producer_id] = state.epoch
            yield SLICE
        aborted = yield from self._aborted(found)
        plan = CleaningPlan(
            partition.log_start_offset,
            found.first_dirty_offset,
            found.first_uncleanable_offset,
            self._clock.now_ms(),
            partition.config.delete_retention_ms,
            producers,
            int(map_bytes),
            marker_epochs,
            aborted,
        )
        return CleaningJob(
            partition.partition_id,
            plan,
            min(config.log_cleaner_io_buffer_size, MAX_READ_BYTES),
            config.log_cleaner_io_max_bytes_per_second,
            is_urgent=found.delay_ms > 0,
        )

    def _aborted(self, found: LogToClean) -> Job[list[AbortedTransaction]]:
        partition, start = found.partition, found.partition.log_start_offset
        aborted: list[AbortedTransaction] = []
        if start <= partition.transactions.last_aborted_offset:
            for one in self._transaction_index.since(partition.partition_id, start):
                if one.first_offset < found.first_uncleanable_offset:
                    aborted.append(one)
                elif one.last_stable_offset >= found.first_uncleanable_offset:
                    break
                yield SLICE
        return aborted

    def _clean_there(
        self, partition: Partition, work: RunningWork[CleaningEnd]
    ) -> Job[CleaningEnd | None]:
        self._running = work
        try:
            while True:
                part: WorkerPart[CleaningEnd] = yield work.next()
                if not self._goes_on(partition):
                    return None
                data, end = part
                for replacement in decode_replacements(data):
                    if not (yield from self._replace(partition, replacement)):
                        return None
                    yield SLICE
                if isinstance(end, BrokerError):
                    raise end
                if end is not None:
                    return end
        finally:
            self._running = None
            work.close()

    def _clean_here(self, partition: Partition, job: CleaningJob) -> Job[CleaningEnd | None]:
        cleaner = Cleaner(job.plan, self._codecs)
        throttle = Throttle(job.max_bytes_per_second, self._clock.monotonic_ms())
        while not cleaner.is_done:
            if not self._goes_on(partition):
                return None
            pause_ms = throttle.pause_ms(cleaner.stats, self._clock.monotonic_ms())
            if pause_ms:
                yield self._after(pause_ms)
                continue
            try:
                data = read_checked(self._log, job, cleaner, READ_BYTES_HERE)
            except NotInMemory as later:
                yield later.loading
                continue
            replacement = cleaner.advance(data)
            if replacement is not None and not (yield from self._replace(partition, replacement)):
                return None
            yield SLICE
        return CleaningEnd(cleaner.stats, cleaner.end_offset)

    def _after(self, pause_ms: int) -> Pending[None]:
        pending: Pending[None] = Pending()
        self._background.after_ms(pause_ms, partial(pending.resolve, None))
        return pending

    def _goes_on(self, partition: Partition) -> bool:
        """False if the topic was deleted, has another policy, or another leader, or must be loaded
        again.
        """
        return (
            self._catalog.holds(partition)
            and partition.broken is None
            and partition.config.compacted
        )

    def _replace(self, partition: Partition, replacement: Replacement) -> Job[bool]:
        """Stages and commits one replacement, but for what is below the log start by now."""
        while (yield from self._copy_before(partition, replacement.first_offset)):
            try:
                is_staged = self._stage(partition, replacement)
            except NotInMemory as later:
                yield later.loading
            else:
                return not is_staged or (yield COMMIT) is None
        return False

    def _stage(self, partition: Partition, replacement: Replacement) -> bool:
        """False if all of it is below the log start. Raises NotInMemory, and StorageFailed."""
        first, last, batches, indexed = replacement
        start = partition.end.start_offset
        if first < start:
            first = start
            batches = [batch for batch in batches if last_offset_of(batch) >= start]
            indexed = [entry for entry in indexed if entry[1] >= start]
        if last < first:
            return False
        ended: list[int] = []
        # First: a read that fails, or is repeated, must leave nothing staged.
        if first <= partition.transactions.last_aborted_offset:
            ended = self._ended(partition.partition_id, first, last, batches)
        grown = self._log.replace(partition.partition_id, first, last, batches, indexed)
        for last_offset in ended:
            self._transaction_index.remove(partition.partition_id, last_offset)
        partition.compacted(grown)
        self._commits.touch(partition)
        return True

    def _copy_before(self, partition: Partition, offset: int) -> Job[bool]:
        """False if it was cut."""

        def copy() -> bool | None:
            """None: it was cut."""
            if not self._goes_on(partition):
                return None
            return self._log.copy_before(partition.partition_id, offset)

        while not (nothing_left := (yield from loaded(copy))):
            if nothing_left is None or (yield COMMIT) is not None:
                return False
        return True

    def _ended(
        self, partition_id: int, first: int, last: int, batches: Iterable[Buffer]
    ) -> list[int]:
        """Of entries without their marker, which would hide later records of the producer."""
        left = [RecordBatch(memoryview(batch)) for batch in batches]
        markers = {one.base_offset for one in left if one.attributes & CONTROL and one.count}
        ended = []
        for aborted in self._transaction_index.since(partition_id, first):
            if aborted.last_offset > last:
                break
            if aborted.last_offset not in markers:
                ended.append(aborted.last_offset)
        return ended
