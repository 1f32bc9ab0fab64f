"""SlicedScan: a scan that begins on the loop, as a job, and goes on in a worker process.

Most scans are a page of the newest records, and done before a process could be asked. One that
takes longer, or comes to a batch that is large, is handed over as far as it has come. While no
worker is free it goes on here, with pauses: what it may not do here waits for one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from application.background.job import PAUSE, SLICE, Job
from application.background.runner import JobResult, Runner
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from application.ports.pending import Pending, resolved
from application.records.plan import ScanEnd, ScanPlan
from application.records.scan import TIME, BatchTooLarge, Scan
from application.records.scan_worker import RunningScan, ScanPart, ScanWorkers
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
        plan: ScanPlan,
        log: LogStore,
        compression: Compression,
        clock: Clock,
        background: Runner,
        workers: ScanWorkers | None,
        unavailable_error: Callable[[], BrokerError | None] = lambda: None,
    ) -> None:
        self._plan = plan
        self._log = log
        self._clock = clock
        self._background = background
        self._workers = workers
        #: An error where it looks through a partition that was deleted or has moved meanwhile.
        self._unavailable_error = unavailable_error
        self._begun_ms = clock.monotonic_ms()
        #: Whether only a worker may do what comes next; Parquet is written by workers only.
        self._heavy = plan.form == "parquet"
        waits = workers is not None and workers.one_waits
        here_ms = 0 if self._heavy else HERE_MS_WHERE_ONE_WAITS if waits else HERE_MS
        self._asks_from_ms = self._begun_ms + here_ms
        self._worker: RunningScan | None = None
        self._result: JobResult[ScanPart] | None = None
        form = "json" if self._heavy else plan.form
        self._writer = LineWriter(form, plan.data_format)
        max_batch_bytes = BATCH_BYTES if workers is not None else None
        self._scan = Scan(plan, log, compression, self._writer.take, max_batch_bytes)
        self._steps = self._scan.steps()

    def next(self) -> Pending[ScanPart]:
        if self._background.is_over:
            return resolved(ScanPart(b"", StorageFailed("The broker is stopping")))
        self._result = self._background.run_later(self._next(), ends_when_abandoned=True)
        return self._result

    def close(self) -> None:
        if self._result is not None:
            self._result.abandon()
        if self._worker is not None:
            self._worker.close()

    def _next(self) -> Job[ScanPart]:
        part: ScanPart | None = None
        while part is None:
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
                part = yield from self._step()
        gone = self._unavailable_error()
        if gone is None:
            return part
        # A log that is being dropped looks like a shorter one.
        if self._worker is not None:
            self._worker.close()
        return ScanPart(b"", gone)

    # ---- here

    def _step(self) -> Job[ScanPart | None]:
        try:
            loading = next(self._steps)
        except StopIteration:
            return ScanPart(self._writer.finish(), self._scan.end(self._scan.reason()))
        except BatchTooLarge:
            self._heavy = True
            self._asks_from_ms = self._begun_ms
            return None
        except BrokerError as failure:
            return ScanPart(self._writer.drain(), failure.as_value())
        if self._writer.waiting_bytes >= PART_BYTES:
            return ScanPart(self._writer.drain())
        part = self._waited() if self._scan.has_moved else None
        if part is None:
            yield loading or SLICE
        return part

    def _waited(self) -> ScanPart | None:
        """The end, when its time is up."""
        budget_ms = self._plan.budget_ms
        if budget_ms is None or self._passed_ms() < budget_ms:
            return None
        return ScanPart(self._writer.finish(), self._scan.end(TIME))

    def _passed_ms(self) -> int:
        return self._clock.monotonic_ms() - self._begun_ms

    # ---- in a worker

    def _hand_over(self, workers: ScanWorkers) -> None:
        plan = self._plan
        left_ms = None if plan.budget_ms is None else max(plan.budget_ms - self._passed_ms(), 1)
        begun = plan.form != "parquet"
        self._worker = workers.start(replace(plan, budget_ms=left_ms, begun=begun), self._log)

    def _with_those_from_here(self, part: ScanPart) -> ScanPart | None:
        """What was found here comes first, and counts. None: there is nothing yet."""
        data, end = part
        if self._plan.form != "parquet":
            data = self._writer.drain() + data
            if isinstance(end, ScanEnd):
                here = self._scan.end("")
                end.found += here.found
                end.scanned += here.scanned
                end.unreadable += here.unreadable
        return ScanPart(data, end) if data or end is not None else None
