"""SlicedScan: a scan that begins on the loop, as a job, and goes on in a worker process.

Most scans are a page of the newest records, and done before a process could be asked. One that
takes longer, or comes to a batch that is large, is handed over as far as it has come. While no
worker is free it goes on here, with pauses: what it may not do here waits for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from application.background.job import PAUSE, SLICE, Job
from application.background.runner import Runner
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from application.ports.pending import Pending, resolved
from application.records.plan import ScanEnd
from application.records.scan import TIME, Scan, TooHeavy
from application.records.scan_worker import RunningScan, ScanJob, ScanPart, ScanWorkers
from application.records.writing import LineWriter
from domain.errors import BrokerError, StorageFailed

#: After so long a worker is asked for the rest; sooner where a process has nothing to do.
HERE_MS = 8
HERE_MS_WHERE_ONE_WAITS = 2
#: If none is free, there is a pause, and after so much work here it is asked again.
ASKS_AFTER_MS = 1
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
        background: Runner,
        workers: ScanWorkers | None,
        why_gone: Callable[[], BrokerError | None] = lambda: None,
    ) -> None:
        self._job = job
        self._log = log
        self._clock = clock
        self._background = background
        self._workers = workers
        #: An error where it looks through a partition that was deleted or has moved meanwhile.
        self._why_gone = why_gone
        self._begun_ms = clock.monotonic_ms()
        self._heavy = job.plan.form == "parquet"
        waits = workers is not None and workers.one_waits
        here_ms = 0 if self._heavy else HERE_MS_WHERE_ONE_WAITS if waits else HERE_MS
        self._asks_from_ms = self._begun_ms + here_ms
        self._worker: RunningScan | None = None
        self._asked: Pending[ScanPart] | None = None
        #: Parquet is written by workers only.
        self._writer = LineWriter(
            "json" if self._heavy else job.plan.form, job.data_format, job.begun
        )
        max_batch_bytes = BATCH_BYTES if workers is not None else None
        self._scan = Scan(job.plan, log, compression, self._writer.take, max_batch_bytes)
        self._steps: Iterator[None] = self._scan.steps()

    def next(self) -> Pending[ScanPart]:
        if self._background.is_over:
            return resolved(ScanPart(b"", StorageFailed("The broker is stopping")))
        self._asked = asked = Pending[ScanPart]()
        self._background.answer_later(self._part()).then(self._answer, self._failed)
        return asked

    def close(self) -> None:
        self._asked = None
        if self._worker is not None:
            self._worker.close()

    def _part(self) -> Job[ScanPart]:
        part: ScanPart | None = None
        while part is None and self._asked is not None:
            if self._worker is not None:
                part = self._with_those_from_here((yield self._worker.next()))
            elif self._workers is not None and self._clock.monotonic_ms() >= self._asks_from_ms:
                self._hand_over(self._workers)
                if self._worker is None:
                    yield PAUSE
                    self._asks_from_ms = self._clock.monotonic_ms() + ASKS_AFTER_MS
            elif self._heavy:
                yield PAUSE
                part = self._waited()
            else:
                part = self._step()
                if part is None:
                    loading, self._scan.loading = self._scan.loading, None
                    yield loading or SLICE
        return part or ScanPart(b"")

    # ---- here

    def _step(self) -> ScanPart | None:
        try:
            if next(self._steps, self) is self:
                return ScanPart(self._writer.finish(), self._scan.end(self._scan.reason()))
        except TooHeavy:
            self._heavy = True
            self._asks_from_ms = self._begun_ms
            return None
        except BrokerError as failure:
            return ScanPart(self._writer.drain(), failure.as_value())
        if self._writer.waiting_bytes >= PART_BYTES:
            return ScanPart(self._writer.drain())
        return self._waited() if self._scan.has_moved else None

    def _waited(self) -> ScanPart | None:
        """The end, when its time is up."""
        budget_ms = self._job.budget_ms
        if budget_ms is None or self._passed_ms() < budget_ms:
            return None
        return ScanPart(self._writer.finish(), self._scan.end(TIME))

    def _passed_ms(self) -> int:
        return self._clock.monotonic_ms() - self._begun_ms

    def _failed(self, fault: Exception) -> None:
        """Its reader gets an error, and the log the traceback."""
        self._answer(ScanPart(b"", StorageFailed("The scan could not go on")))
        raise fault

    def _answer(self, part: ScanPart) -> None:
        asked, self._asked = self._asked, None
        if asked is None:
            return
        gone = self._why_gone()
        if gone is not None:
            # A log that is being dropped looks like a shorter one.
            self.close()
            part = ScanPart(b"", gone)
        asked.resolve(part)

    # ---- in a worker

    def _hand_over(self, workers: ScanWorkers) -> None:
        job = self._job
        left_ms = None if job.budget_ms is None else max(job.budget_ms - self._passed_ms(), 1)
        begun = job.begun or job.plan.form != "parquet"
        rest = ScanJob(job.plan, job.data_format, left_ms, begun)
        self._worker = workers.start(rest, self._log)

    def _with_those_from_here(self, part: ScanPart) -> ScanPart | None:
        """What was found here comes first, and counts. None: there is nothing yet."""
        if self._job.plan.form != "parquet":
            part.data = self._writer.drain() + part.data
            if isinstance(part.end, ScanEnd):
                here = self._scan.end("")
                part.end.found += here.found
                part.end.scanned += here.scanned
                part.end.unreadable += here.unreadable
        return part if part.data or part.end is not None else None
