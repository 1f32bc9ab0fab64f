"""Runner: runs background jobs, and requests that take more than one slice.

    run     for a request: the first slice at once, in which most are done; the rest in turn
    start   maintenance: one job of a kind at a time, with a pause after each slice and commit
    every   maintenance that is repeated after an interval

Each pass of the loop runs one slice of one job, in turn. A slice takes a millisecond. After a
failed commit a maintenance job backs off, because its changes fail all others of that commit. All
jobs and callbacks (`soon`, `after_ms`) end with the broker, before the store is closed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from application.background.job import COMMIT, END_OF_COMMIT, PAUSE, SLICE, Job, Step
from application.ports.clock import Clock
from application.ports.pending import Pending
from application.ports.scheduler import Scheduler, Timer
from application.state.commits import Commits
from domain.errors import StorageFailed

SLICE_NS = 1_000_000
#: The most steps of a slice, also if the clock does not move.
STEPS_PER_SLICE = 1000
#: After each slice and each commit of maintenance.
PAUSE_MS = 2
#: After a failure; doubled with each further one.
RETRY_MS = 1000
LONGEST_RETRY_MS = 60_000

T = TypeVar("T")


class JobResult(Pending[T], Generic[T]):
    __slots__ = ("_ends_when_abandoned", "failures", "job", "pauses", "rest_ms", "slices")

    def __init__(
        self, job: Job[T], pauses: bool = False, ends_when_abandoned: bool = False
    ) -> None:
        super().__init__()
        self.job = job
        self.pauses = pauses
        self._ends_when_abandoned = ends_when_abandoned
        self.failures = 0
        self.slices = 0
        #: The pause at the next SLICE of the job.
        self.rest_ms = 0

    def abandon(self) -> None:
        """The request was abandoned, between two slices."""
        super().abandon()
        if self._ends_when_abandoned:
            self.job.close()

    def rest_after(self, outcome: object) -> None:
        if not isinstance(outcome, StorageFailed):
            self.failures = 0
            self.rest_ms = PAUSE_MS
        else:
            self.rest_ms = min(RETRY_MS << self.failures, LONGEST_RETRY_MS)
            self.failures = min(self.failures + 1, 10)


class Runner:
    """Satisfies `application.ports.scheduler.Scheduler`."""

    def __init__(self, scheduler: Scheduler, clock: Clock, commits: Commits) -> None:
        self.scheduler = scheduler
        self._clock = clock
        self._commits = commits
        self._ready: deque[JobResult[Any]] = deque()
        self._started: set[Callable[[], Job[None]]] = set()
        self.is_over = False
        self._at_end: list[Callable[[], None]] = []

    def __len__(self) -> int:
        """Jobs that are ready to run."""
        return len(self._ready)

    # ---- jobs

    def run(self, job: Job[T], *, ends_when_abandoned: bool = False) -> JobResult[T]:
        """A job that only reads may end when its request is abandoned; one that changes something
        is completed.
        """
        result = JobResult(job, ends_when_abandoned=ends_when_abandoned)
        self._slice(result)
        return result

    def run_unless_stuck(self, job: Job[None], look_ms: int) -> Pending[None]:
        """Ends the job if it runs no slice between two looks, as it waits for something."""
        result = JobResult(job, ends_when_abandoned=True)
        ended: Pending[None] = Pending()
        timer: Timer
        seen = 0

        def look() -> None:
            nonlocal seen, timer
            if result.slices > seen:
                seen = result.slices
                timer = self.after_ms(look_ms, look)
            else:
                result.abandon()
                ended.resolve(None)

        def end(_: None) -> None:
            timer.cancel()
            ended.resolve(None)

        def fail(fault: Exception) -> None:
            timer.cancel()
            ended.fail(fault)

        timer = self.after_ms(look_ms, look)
        result.then(end, fail)
        self._slice(result)
        return ended

    def run_later(self, job: Job[T], *, ends_when_abandoned: bool = False) -> JobResult[T]:
        """As `run`, but the first slice is in turn, too."""
        result = JobResult(job, ends_when_abandoned=ends_when_abandoned)
        self._queue(result)
        return result

    def start(self, make: Callable[[], Job[None]], *, pauses: bool = True) -> None:
        """Starts a maintenance job, unless the last one of `make` still runs.

        After an unexpected exception it starts again. Without pauses if clients wait for it.
        """
        if make not in self._started:
            self._started.add(make)
            self._start_after(PAUSE_MS if pauses else 0, make, pauses)

    def _start_after(self, delay_ms: int, make: Callable[[], Job[None]], pauses: bool) -> None:
        def failed() -> None:
            self._start_after(LONGEST_RETRY_MS, make, pauses)

        def begin() -> None:
            self._begin(JobResult(make(), pauses), lambda: self._started.discard(make), failed)

        if delay_ms:
            self.after_ms(delay_ms, begin)
        else:
            self.soon(begin)

    def every(self, interval_ms: int | Callable[[], int], make: Callable[[], Job[None]]) -> None:
        """The interval starts when the job is done; a function returns one that may change."""

        def again() -> None:
            self.every(interval_ms, make)

        delay_ms = interval_ms if isinstance(interval_ms, int) else interval_ms()
        self.after_ms(delay_ms, lambda: self._begin(JobResult(make(), True), again, again))

    def _begin(
        self, result: JobResult[None], done: Callable[[], None], failed: Callable[[], None]
    ) -> None:
        def fail(fault: Exception) -> None:
            failed()
            raise fault

        result.then(lambda _: done(), fail)
        self._queue(result)

    def _queue(self, result: JobResult[Any]) -> None:
        self._ready.append(result)
        if len(self._ready) == 1:
            self.soon(self._turn)

    def _turn(self) -> None:
        result = self._ready.popleft()
        if self._ready:
            self.soon(self._turn)
        self._slice(result)

    def _slice(self, result: JobResult[Any], value: Any = None) -> None:
        clock_ns = self._clock.monotonic_ns
        ends_ns = clock_ns() + SLICE_NS
        result.slices += 1
        send = result.job.send
        try:
            for _ in range(STEPS_PER_SLICE):
                step = send(value)
                value = None
                if step is not SLICE or result.rest_ms or clock_ns() >= ends_ns:
                    break
        except StopIteration as end:
            result.resolve(end.value)
        except Exception as fault:
            result.fail(fault)
        else:
            self._wait(result, step)

    def _wait(self, result: JobResult[Any], step: Step | Pending[Any] | StorageFailed) -> None:
        def go_on(value: Any) -> None:
            if result.pauses:
                if self.is_over:
                    return
                result.rest_after(value)
            self._slice(result, value)

        if step is COMMIT:
            self._commits.when_committed(go_on)
        elif step is END_OF_COMMIT:
            self._commits.wait(go_on)
        elif isinstance(step, Pending):
            step.then(go_on, result.fail)
        elif isinstance(step, StorageFailed):
            result.rest_after(step)
            self._queue_after(result)
        elif result.pauses or step is PAUSE:
            self._queue_after(result)
        else:
            self._queue(result)

    def _queue_after(self, result: JobResult[Any]) -> None:
        delay_ms, result.rest_ms = result.rest_ms or PAUSE_MS, 0
        self.after_ms(delay_ms, lambda: self._queue(result))

    # ---- the end

    def at_end(self, callback: Callable[[], None]) -> None:
        """For delayed work that must not be lost."""
        self._at_end.append(callback)

    def end(self) -> None:
        if self.is_over:
            return
        self.is_over = True
        for callback in self._at_end:
            callback()

    def soon(self, callback: Callable[[], None]) -> None:
        self.scheduler.soon(lambda: self._call(callback))

    def after_ms(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        return self.scheduler.after_ms(delay_ms, lambda: self._call(callback))

    def _call(self, callback: Callable[[], None]) -> None:
        if not self.is_over:
            callback()
