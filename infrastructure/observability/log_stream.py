"""Where log lines go: the broker never waits for the reader of its log, and never fails with it.

A pipe that is not read is full after 64 KiB; the next write would block the loop. So a line is
written only where there is room for it. If there is none, it is queued for a thread, which lives
until the queue is empty. Lines beyond the queue's limit are dropped and counted.
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
QUEUE_BYTES = 1 << 20
#: Until a stream that had room and took nothing is tried again.
RETRY_SECONDS = 0.01


class LogStream(Protocol):
    def write(self, line: bytes) -> None: ...

    def drain(self, timeout_seconds: float) -> None:
        """At the end: gives the reader time to take what it has not taken yet."""
        ...


def log_stream(stream: BinaryIO, dropped: Callable[[int], bytes]) -> LogStream:
    """`dropped` renders the line with the number of lost lines."""
    try:
        stream.fileno()
    except (OSError, ValueError):
        return PlainStream(stream)
    return QueuedStream(stream, dropped) if hasattr(select, "poll") else PlainStream(stream)


class PlainStream:
    """In memory, or where the system cannot tell whether there is room."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, line: bytes) -> None:
        with suppress(OSError, ValueError):
            self._stream.write(line)
            self._stream.flush()

    def drain(self, timeout_seconds: float) -> None:
        """Nothing is queued."""


class QueuedStream:
    def __init__(self, stream: BinaryIO, dropped: Callable[[int], bytes]) -> None:
        self._stream = stream  # keeps its descriptor open
        self._descriptor = stream.fileno()
        self._dropped = dropped
        self._room = select.poll()
        self._room.register(self._descriptor, select.POLLOUT)
        self._lock = Lock()
        self._queue: deque[bytes] = deque()
        self._queue_bytes = 0
        #: Writes the queue; None while lines are written directly.
        self._thread: Thread | None = None
        self._dropped_lines = 0
        #: The last line was written in part and its rest dropped.
        self._torn = False

    def write(self, line: bytes) -> None:
        with self._lock:
            if self._thread is None:
                self._write_or_queue(line)
            # After a dropped line all others are dropped too, until the gap is reported.
            elif self._dropped_lines or self._queue_bytes + len(line) > QUEUE_BYTES:
                self._dropped_lines += 1
            else:
                self._add(line)

    def drain(self, timeout_seconds: float) -> None:
        thread = self._thread
        if thread is not None:
            thread.join(timeout_seconds)

    def _write_or_queue(self, line: bytes) -> None:
        if self._dropped_lines:  # no thread could be started that reports them
            line = b"\n" * self._torn + self._dropped(self._dropped_lines) + line
        rest = self._written_now(line)
        if not rest or self._started(rest):
            self._dropped_lines = 0
            self._torn = False
        else:
            self._dropped_lines += 1
            self._torn = len(rest) < len(line) or self._torn

    def _written_now(self, line: bytes) -> bytes:
        """Returns what there was no room for."""
        try:
            while line and self._room.poll(0):
                line = line[os.write(self._descriptor, line[:ATOMIC_BYTES]) :]
        except BlockingIOError:
            return line
        except OSError:
            return b""
        return line

    def _add(self, line: bytes) -> None:
        self._queue.append(line)
        self._queue_bytes += len(line)

    def _started(self, rest: bytes) -> bool:
        """Returns False if the system has no further thread."""
        self._add(rest)
        self._thread = Thread(target=self._write_queue, name="log", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._thread = None
            self._queue.clear()
            self._queue_bytes = 0
            return False
        return True

    def _write_queue(self) -> None:
        room = select.poll()  # only one thread may wait with the other one
        room.register(self._descriptor, select.POLLOUT)
        while line := self._next():
            with suppress(OSError):
                while line:
                    room.poll()
                    line = self._written_soon(line)

    def _written_soon(self, line: bytes) -> bytes:
        """Another process that shares the stream may have made it non-blocking."""
        try:
            return line[os.write(self._descriptor, line[:ATOMIC_BYTES]) :]
        except BlockingIOError:
            sleep(RETRY_SECONDS)
            return line

    def _next(self) -> bytes | None:
        """None ends the thread."""
        with self._lock:
            if self._queue:
                line = self._queue.popleft()
                self._queue_bytes -= len(line)
                return line
            if self._dropped_lines:
                line = self._dropped(self._dropped_lines)
                self._dropped_lines = 0
                return line
            self._thread = None
            return None
