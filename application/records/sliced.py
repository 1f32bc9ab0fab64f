"""SlicedScan: a scan that begins on the loop, a slice of it in a pass, and goes on in a worker.

Most scans are a page of the newest records, and done before a process could be asked. One that
takes longer, or comes to a batch that is large, is handed over as far as it has come. While no
worker is free it goes on here, with pauses: what it may not do here waits for one. A worker may
hand it back, too, when another scan is to have its turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from application.pending import Pending
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from application.ports.scan_worker import RunningScan, ScanJob, ScanPart, ScanWorkers
from application.records.plan import ScanEnd, ScanPlan
from application.records.scan import PAUSED, TIME, Scan, TooHeavy
from application.records.writing import LineWriter
from application.upkeep.spare_time import SpareTime
from domain.errors import BrokerError, StorageFailed, UnknownTopicOrPartition

#: A slice ends when the clock has gone on by a millisecond, and after so many steps at the latest.
STEPS_AT_ONCE = 256
#: So many slices are run one pass after the other, before a worker is asked for the rest; fewer
#: where a process is there and has nothing to do.
SLICES_BEFORE = 8
SLICES_BEFORE_ONE_THAT_WAITS = 2
#: Between slices that take long all the same, so that requests get most of the time.
PAUSE_MS = 4
#: Whoever had its turn with a worker asks for none so long: those that wait ask more often.
HANDED_BACK_MS = 5 * PAUSE_MS
#: A batch that is larger is opened by a worker only.
BATCH_BYTES = 256 * 1024
#: Handed over at once as soon as there is so much.
PART_BYTES = 64 * 1024


class SlicedScan:
    def __init__(
        self,
        job: ScanJob,
        log: LogStore,
        compression: Compression,
        clock: Clock,
        spare_time: SpareTime,
        workers: ScanWorkers | None,
        is_there: Callable[[], bool] = lambda: True,
    ) -> None:
        self._job = job
        self._log = log
        self._compression = compression
        self._clock = clock
        self._spare_time = spare_time
        self._workers = workers
        #: Whether nothing of what it looks through was deleted with its topic.
        self._is_there = is_there
        self._begun_ms = self._asks_from_ms = clock.monotonic_ms()
        self._slices = 0
        waits = workers is not None and workers.one_waits
        self._slices_before = SLICES_BEFORE_ONE_THAT_WAITS if waits else SLICES_BEFORE
        self._heavy = job.plan.form == "parquet"
        self._asked: Pending[ScanPart] | None = None
        self._closed = False
        self._handed_over: RunningScan | None = None
        #: What was done before it was handed back.
        self._before: ScanEnd | None = None
        if not self._heavy:
            self._writer = LineWriter(job.plan.form, job.data_format, job.begun)
            self._begin(BATCH_BYTES if workers is not None else None)

    def _begin(self, max_batch_bytes: int | None) -> None:
        plan = self._job.plan
        self._scan = Scan(plan, self._log, self._compression, self._writer.take, max_batch_bytes)
        self._steps: Iterator[None] = self._scan.steps()

    def next(self) -> Pending[ScanPart]:
        pending: Pending[ScanPart] = Pending()
        self._asked = pending
        self._spare_time.scheduler.soon(self._try)
        return pending

    def close(self) -> None:
        self._closed = True
        self._asked = None
        if self._handed_over is not None:
            self._handed_over.close()

    # ---- here

    def _try(self) -> None:
        try:
            self._go_on()
        except Exception:
            # Whatever it is, who waits is told, and the loop's own handler what it was.
            self._answer(ScanPart(b"", StorageFailed("The scan could not go on")))
            raise

    def _go_on(self) -> None:
        if self._closed:
            return
        if self._spare_time.is_over:
            self._answer(ScanPart(b"", StorageFailed("The broker is stopping")))
        elif self._handed_over is not None:
            self._handed_over.next().then(self._passed_on)
        elif self._is_for_a_worker() and self._hand_over():
            self._go_on()
        elif self._heavy:
            self._wait_for_a_worker()
        else:
            self._slice()

    def _is_for_a_worker(self) -> bool:
        long = self._heavy or self._slices >= self._slices_before
        return long and self._clock.monotonic_ms() >= self._asks_from_ms

    def _wait_for_a_worker(self) -> None:
        budget_ms = self._job.budget_ms
        if budget_ms is not None and self._passed_ms() >= budget_ms:
            self._answer(ScanPart(self._writer.finish(), self._scan.end(TIME)))
        else:
            self._later()

    def _slice(self) -> None:
        self._slices += 1
        try:
            end = self._run()
        except TooHeavy:
            self._heavy = True
            self._go_on()
            return
        except BrokerError as failure:
            self._answer(ScanPart(self._writer.drain(), failure.as_value()))
            return
        if end is not None:
            self._answer(ScanPart(self._writer.finish(), end))
        elif self._writer.waiting_bytes >= PART_BYTES:
            self._answer(ScanPart(self._writer.drain()))
        else:
            self._later()

    def _run(self) -> ScanEnd | None:
        """A slice; what it came to, when it was the last."""
        clock = self._clock
        began_ms = clock.monotonic_ms()
        self._scan.loading = None
        for _ in range(STEPS_AT_ONCE):
            if next(self._steps, self) is self:
                return self._scan.end(self._scan.reason())
            if (
                clock.monotonic_ms() != began_ms
                or self._writer.waiting_bytes >= PART_BYTES
                or self._scan.loading is not None
            ):
                break
        budget_ms = self._job.budget_ms
        if budget_ms is not None and self._passed_ms() >= budget_ms and self._scan.has_moved:
            return self._scan.end(TIME)
        return None

    def _later(self) -> None:
        if not self._heavy and self._scan.loading is not None:
            self._scan.loading.then(lambda _: self._try())
        elif self._slices <= self._slices_before and not self._heavy:
            self._spare_time.scheduler.soon(self._try)
        else:
            self._spare_time.scheduler.after_ms(PAUSE_MS, self._try)

    def _passed_ms(self) -> int:
        return self._clock.monotonic_ms() - self._begun_ms

    def _answer(self, part: ScanPart) -> None:
        asked, self._asked = self._asked, None
        if asked is None:
            return
        if not self._is_there():
            # A log that is being dropped looks like a shorter one.
            self.close()
            gone = UnknownTopicOrPartition("The topic was deleted meanwhile")
            part = ScanPart(b"", gone)
        asked.resolve(part)

    # ---- in a worker

    def _hand_over(self) -> bool:
        if self._workers is None:
            return False
        job = self._job
        left_ms = None
        if job.budget_ms is not None:
            left_ms = max(job.budget_ms - self._passed_ms(), 1)
        begun = job.begun or job.plan.form != "parquet"
        rest = ScanJob(job.plan, job.data_format, left_ms, begun)
        self._handed_over = self._workers.start(rest, self._log)
        return self._handed_over is not None

    def _passed_on(self, part: ScanPart) -> None:
        """What was found here comes first, and counts."""
        if self._job.plan.form != "parquet":
            part.data = self._writer.drain() + part.data
            if isinstance(part.end, ScanEnd):
                self._end_of_turn(part)
        if part.data or part.end is not None:
            self._answer(part)
        else:
            self._go_on()

    def _end_of_turn(self, part: ScanPart) -> None:
        end = part.end
        assert isinstance(end, ScanEnd)
        found_there = end.found
        for so_far in (self._scan.end(""), self._before):
            if so_far is not None:
                end.found += so_far.found
                end.scanned += so_far.scanned
                end.unreadable += so_far.unreadable
        if end.reason != PAUSED:
            return
        part.end = None
        self._before = end
        self._asks_from_ms = self._clock.monotonic_ms() + HANDED_BACK_MS
        self._handed_over = None
        plan = self._job.plan
        limit = None if plan.limit is None else plan.limit - found_there
        rest = ScanPlan(end.ranges, plan.filter, plan.form, plan.newest_first, limit)
        self._job = ScanJob(rest, self._job.data_format, None, True)
        self._heavy = False
        self._begin(BATCH_BYTES)
