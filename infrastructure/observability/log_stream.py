"""Where log lines go: nobody waits for the reader of the log, and its failures are nobody's.

A pipe that is not read is full after 64 KiB, and the next write stands still; on the loop, so would
the broker. So a line is written only where there is room for it. What finds none is kept for a
thread that lives until it has written all of that; what is too much to keep is dropped and counted.
"""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread
from time import sleep
from typing import BinaryIO, Protocol

#: A pipe or socket that can be written to takes so much at once.
ATOMIC_BYTES = 4096
KEPT_BYTES = 1 << 20
#: Until a stream that had room and took nothing is asked again.
RETRY_SECONDS = 0.01


class LogStream(Protocol):
    def write(self, line: bytes) -> None: ...

    def flush(self) -> None: ...

    def drain(self, timeout_seconds: float) -> None:
        """At the end: gives the reader that long to take what it has not taken yet."""
        ...


def log_stream(stream: BinaryIO, dropped: Callable[[int], bytes]) -> LogStream:
    """`dropped` makes the line that says how many are missing."""
    try:
        stream.fileno()
    except (OSError, ValueError):
        return PlainStream(stream)
    return PatientStream(stream, dropped) if hasattr(select, "poll") else PlainStream(stream)


class PlainStream:
    """Not of the system's: in memory, or where one cannot ask whether there is room."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, line: bytes) -> None:
        with suppress(OSError, ValueError):
            self._stream.write(line)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def drain(self, timeout_seconds: float) -> None:
        self.flush()


class PatientStream:
    def __init__(self, stream: BinaryIO, dropped: Callable[[int], bytes]) -> None:
        self._stream = stream  # while it is there, its descriptor is
        self._descriptor = stream.fileno()
        self._dropped = dropped
        self._room = select.poll()
        self._room.register(self._descriptor, select.POLLOUT)
        self._lock = Lock()
        #: Lines for the thread that writes them; None: there is none.
        self._kept: deque[bytes] | None = None
        self._kept_bytes = 0
        self._thread: Thread | None = None
        self._dropped_lines = 0
        #: A line was begun and its rest dropped.
        self._torn = False

    def write(self, line: bytes) -> None:
        with self._lock:
            if self._kept is not None:
                self._keep(self._kept, line)
                return
            told = self._missing() + line
            rest = self._written_now(told)
            if not rest or self._has_thread_for(rest):
                self._dropped_lines = 0
                self._torn = False
            else:
                self._dropped_lines += 1
                self._torn = len(rest) < len(told) or self._torn

    def flush(self) -> None:
        """Nothing is held back."""

    def drain(self, timeout_seconds: float) -> None:
        thread = self._thread
        if thread is not None:
            thread.join(timeout_seconds)

    def _missing(self) -> bytes:
        """What has to be said first, where no thread was to be had that could have said it."""
        if not self._dropped_lines:
            return b""
        return b"\n" * self._torn + self._dropped(self._dropped_lines)

    def _written_now(self, line: bytes) -> bytes:
        """What there was no room for."""
        try:
            while line and self._room.poll(0):
                line = line[os.write(self._descriptor, line[:ATOMIC_BYTES]) :]
        except BlockingIOError:
            return line
        except OSError:
            return b""
        return line

    def _has_thread_for(self, rest: bytes) -> bool:
        self._kept = deque([rest])
        self._kept_bytes = len(rest)
        self._thread = Thread(target=self._write_kept, name="log", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            # The system has no thread left. Nobody would write what is kept.
            self._kept = self._thread = None
            self._kept_bytes = 0
            return False
        return True

    def _keep(self, kept: deque[bytes], line: bytes) -> None:
        # Once a line is missing, so are the next ones, until it is said where they would stand.
        if self._dropped_lines or self._kept_bytes + len(line) > KEPT_BYTES:
            self._dropped_lines += 1
        else:
            kept.append(line)
            self._kept_bytes += len(line)

    def _write_kept(self) -> None:
        room = select.poll()  # only one thread may wait with the other one
        room.register(self._descriptor, select.POLLOUT)
        while line := self._next_kept():
            with suppress(OSError):
                while line:
                    room.poll()
                    line = self._written_soon(line)

    def _written_soon(self, line: bytes) -> bytes:
        """Whoever shares the stream may have made it one that does not wait."""
        try:
            return line[os.write(self._descriptor, line[:ATOMIC_BYTES]) :]
        except BlockingIOError:
            sleep(RETRY_SECONDS)
            return line

    def _next_kept(self) -> bytes | None:
        """None, and the thread ends: from then on lines are written where they are made."""
        with self._lock:
            assert self._kept is not None
            if not self._kept and self._dropped_lines:
                line = self._dropped(self._dropped_lines)
                self._dropped_lines = 0
                return line
            if not self._kept:
                self._kept = None
                return None
            line = self._kept.popleft()
            self._kept_bytes -= len(line)
            return line
