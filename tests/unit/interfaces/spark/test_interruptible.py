"""Ctrl-C and SIGTERM: the job is ended through its session, by a signal to the main thread."""

from __future__ import annotations

import signal
import threading
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import pytest

from interfaces.spark import running, session
from interfaces.spark.interruptible import Interruptible
from interfaces.terminal.endings import INTERRUPTED


class Spark:
    """A session whose job waits until it is cancelled."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.streams, self.sparkContext = self, self
        self.active: list[Any] = []

    def cancelAllJobs(self) -> None:
        self.cancelled.set()


@pytest.fixture(autouse=True)
def not_ending() -> Iterator[None]:
    yield
    session.ending.clear()


def interrupted(by: int = signal.SIGINT) -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, by)


def test_the_result_or_exception_of_a_job_is_returned() -> None:
    assert Interruptible(lambda: 3, lambda: None).run() == 3
    with pytest.raises(ZeroDivisionError):
        Interruptible(lambda: 1 // 0, lambda: None).run()


@pytest.mark.parametrize(
    ("by", "every", "code", "line"),
    [
        (signal.SIGINT, None, INTERRUPTED, "ottla: interrupted\n"),
        (signal.SIGTERM, None, running.TERMINATED, "ottla: ended by SIGTERM\n"),
        # With --every a job runs until a signal.
        (signal.SIGINT, 1.0, 0, ""),
        (signal.SIGTERM, 1.0, 0, ""),
    ],
)
@pytest.mark.parametrize("fails", [False, True])
def test_signals_end_a_job_with_one_line(
    by: int,
    every: float | None,
    code: int,
    line: str,
    fails: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spark: Any = Spark()

    def job(_: Namespace) -> int:
        interrupted(by)
        spark.cancelled.wait(30)
        if fails and every is None:
            raise RuntimeError("cancelled")
        return 0

    monkeypatch.setattr(running, "require_spark", lambda: None)
    monkeypatch.setattr(running, "is_running", lambda: False)
    monkeypatch.setattr(running, "opened", lambda: spark)
    monkeypatch.setattr(running, "command_of", lambda *_: job)
    assert running.run(Namespace(runs="a:b", every=every)) == code
    assert capsys.readouterr().err == line
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_signal_stops_a_session_that_is_starting() -> None:
    def job() -> int:
        interrupted()
        session.ending.wait(30)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Interruptible(job, lambda: None).run()
