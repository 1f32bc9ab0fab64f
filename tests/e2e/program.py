"""A program that runs until it is interrupted, and what it prints meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Self

PATIENCE_S = 30.0


class Program:
    def __init__(self, command: Sequence[str], extra: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            list(command),
            env={**os.environ, **(extra or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.lines: list[str] = []
        self.ended, self.changed = False, threading.Condition()
        self.reading = threading.Thread(target=self.read, daemon=True)
        self.reading.start()

    def read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def wait_until(self, holds: Callable[[list[str]], object]) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.ended or holds(self.lines), PATIENCE_S)
        assert holds(self.lines), self.lines

    def wait_for(self, line: str) -> None:
        self.wait_until(lambda lines: line in lines)

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE_S)
        self.reading.join(PATIENCE_S)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        with suppress(ProcessLookupError):  # the group: a shell has children
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.reading.join(PATIENCE_S)
        assert self.process.stdout
        self.process.stdout.close()
