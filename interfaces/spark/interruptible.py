"""A job that Ctrl-C ends cleanly, and SIGTERM as well.

The connection to the JVM cannot be left in the middle of an answer, where a signal would tear it.
So a job runs in a thread of its own, and the main thread, where signals come, has a connection of
its own: it ends the job's queries and stages, and the job ends by that as by any other failure,
which removes what it made.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from interfaces.spark.session import ending

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOK_S = 0.5
_AGAIN_S = 0.1


class Terminated(KeyboardInterrupt):
    """SIGTERM came: what ends a job is the same."""


@dataclass
class _Ended:
    code: int | None = None
    failure: BaseException | None = None


class Interruptible:
    """`session` is asked for the one that the job opened, when there is one."""

    def __init__(self, job: Callable[[], int], session: Callable[[], SparkSession | None]) -> None:
        self._job, self._session = job, session
        self._ended = _Ended()
        # A second Ctrl-C waits for nothing, and nor does the end of the process then.
        self._thread = threading.Thread(target=self._work, name="job", daemon=True)
        #: Not `join`: one that a signal leaves takes the thread for ended.
        self._done = threading.Event()
        self.interrupted: KeyboardInterrupt | None = None

    def _work(self) -> None:
        try:
            self._ended.code = self._job()
        except BaseException as failure:
            self._ended.failure = failure
        finally:
            self._done.set()

    def run(self) -> int:
        """What the job gives or raises; a KeyboardInterrupt where a signal made it raise."""
        with _sigterm_raises():
            try:
                self._thread.start()
                while not self._done.wait(_LOOK_S):
                    pass
            except KeyboardInterrupt as interrupted:
                self.interrupted = interrupted
                self._end()
        if self._ended.failure is not None:
            if self.interrupted is not None:
                raise self.interrupted from self._ended.failure
            raise self._ended.failure
        assert self._ended.code is not None
        return self._ended.code

    def _end(self) -> None:
        """Again and again: a job may be between two stages, or be starting its session."""
        ending.set()
        while not self._done.wait(_AGAIN_S):
            if (session := self._session()) is not None:
                with suppress(Exception):  # it may be ending at the same time
                    _cancel(session)


@contextmanager
def _sigterm_raises() -> Iterator[None]:
    """Unless the process has it do something else."""
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
