"""Runs a job that Ctrl-C and SIGTERM end cleanly.

A signal must not interrupt the connection to the JVM in the middle of a response. So the job runs
in its own thread, and the main thread, which gets the signals, has its own connection: it cancels
the job's queries and stages, and the job ends and cleans up as after any other failure.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

from interfaces.spark.session import ending

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOK_S = 0.5
_AGAIN_S = 0.1


class Terminated(KeyboardInterrupt):
    """SIGTERM ends a job like Ctrl-C."""


class Interruptible:
    """`session` returns the session that the job has opened, if any."""

    def __init__(self, job: Callable[[], int], session: Callable[[], SparkSession | None]) -> None:
        self._job, self._session = job, session
        self._code: int | None = None
        self._failure: BaseException | None = None
        # A daemon, so that a second Ctrl-C ends the process at once.
        self._thread = threading.Thread(target=self._work, name="job", daemon=True)
        #: Not `join`, which a signal can leave with the thread marked as ended.
        self._done = threading.Event()
        self.interrupted: KeyboardInterrupt | None = None

    def _work(self) -> None:
        try:
            self._code = self._job()
        except BaseException as failure:
            self._failure = failure
        finally:
            self._done.set()

    def run(self) -> int:
        """The job's result or exception; KeyboardInterrupt if it failed after a signal."""
        with _sigterm_raises():
            try:
                self._thread.start()
                while not self._done.wait(_LOOK_S):
                    pass
            except KeyboardInterrupt as interrupted:
                self.interrupted = interrupted
                self._end()
        if self._failure is not None:
            if self.interrupted is not None:
                raise self.interrupted from self._failure
            raise self._failure
        assert self._code is not None
        return self._code

    def _end(self) -> None:
        """Cancels repeatedly: the job may be between two stages, or starting its session."""
        ending.set()
        while not self._done.wait(_AGAIN_S):
            if (session := self._session()) is not None:
                with suppress(Exception):  # it may be ending at the same time
                    _cancel(session)


@contextmanager
def _sigterm_raises() -> Iterator[None]:
    """Unless the process has another handler."""
    before = signal.getsignal(signal.SIGTERM)
    is_ours = before is signal.SIG_DFL and threading.current_thread() is threading.main_thread()
    if is_ours:
        signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, before)


def _terminated(*_: object) -> NoReturn:
    raise Terminated


def _cancel(session: SparkSession) -> None:
    for query in session.streams.active:
        query.stop()
    session.sparkContext.cancelAllJobs()
