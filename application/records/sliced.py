"""SlicedScan: a scan that starts as a job on the loop, and may continue in a worker process.

Most scans read one page of the newest records, which is faster than a call of a process. A longer
one, or one with a large batch, continues in a worker. While no worker is idle it goes on here, with
pauses; large batches wait for a worker.
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

#: Time on the loop before a worker continues; less if one is idle.
HERE_MS = 8
HERE_MS_IF_IDLE = 2
#: If all workers are busy: time on the loop, after a pause, before the next attempt.
RETRY_AFTER_MS = 1
#: Larger batches are opened by workers only.
BATCH_BYTES = 256 * 1024
#: The size of a part of the output.
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
        #: Returns an error if a scanned partition was deleted or has moved.
        self._unavailable_error = unavailable_error
        self._begun_ms = clock.monotonic_ms()
        #: The next step needs a worker; only workers write Parquet.
        self._heavy = plan.form == "parquet"
        has_idle = workers is not None and workers.has_idle
        here_ms = 0 if self._heavy else HERE_MS_IF_IDLE if has_idle else HERE_MS
        self._worker_from_ms = self._begun_ms + here_ms
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
                part = self._with_own_records((yield self._worker.next()))
            elif self._workers is not None and self._clock.monotonic_ms() >= self._worker_from_ms:
                self._hand_over(self._workers)
                if self._worker is None:
                    yield PAUSE
                    self._worker_from_ms = self._clock.monotonic_ms() + RETRY_AFTER_MS
            elif self._heavy:
                yield PAUSE
                part = self._waited()
            else:
                part = yield from self._step()
        error = self._unavailable_error()
        if error is None:
            return part
        # Not the records: a partition that is being dropped looks shorter.
        if self._worker is not None:
            self._worker.close()
        return ScanPart(b"", error)

    # ---- on the loop

    def _step(self) -> Job[ScanPart | None]:
        try:
            loading = next(self._steps)
        except StopIteration:
            return ScanPart(self._writer.finish(), self._scan.end(self._scan.reason()))
        except BatchTooLarge:
            self._heavy = True
            self._worker_from_ms = self._begun_ms
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
        """The end of the scan, if its time limit is over."""
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

    def _with_own_records(self, part: ScanPart) -> ScanPart | None:
        """Records that were found on the loop come first, and are counted. None: nothing yet."""
        data, end = part
        if self._plan.form != "parquet":
            data = self._writer.drain() + data
            if isinstance(end, ScanEnd):
                here = self._scan.end("")
                end.found += here.found
                end.scanned += here.scanned
                end.unreadable += here.unreadable
        return ScanPart(data, end) if data or end is not None else None
