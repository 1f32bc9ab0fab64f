"""An event loop that a test turns by itself: calls from threads, and sockets that are ready."""

from __future__ import annotations

import os
import select
from collections import defaultdict
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import monotonic

Callback = Callable[[], None]
_READER, _WRITER = select.POLLIN, select.POLLOUT


class Callbacks(SimpleQueue[Callback]):
    def __init__(self) -> None:
        #: Written with each call.
        self._called = os.eventfd(0, os.EFD_NONBLOCK)
        self._watched: dict[tuple[int, int], Callback] = {}

    def __del__(self) -> None:
        os.close(self._called)

    def put(self, callback: Callback, block: bool = True, timeout: float | None = None) -> None:
        super().put(callback)
        os.eventfd_write(self._called, 1)

    def get(self, block: bool = True, timeout: float | None = None) -> Callback:
        until = None if timeout is None else monotonic() + timeout
        while True:
            ready = self._ready(0)
            if not super().empty():
                return super().get()
            if ready is not None:
                return ready
            left_s = None if until is None else until - monotonic()
            if left_s is not None and left_s <= 0:
                raise Empty
            self._ready(left_s)

    def empty(self) -> bool:
        return super().empty() and self._ready(0) is None

    def _ready(self, timeout_s: float | None) -> Callback | None:
        """Of a socket."""
        poll = select.poll()
        poll.register(self._called, _READER)
        wanted: dict[int, int] = defaultdict(int)
        for fd, event in self._watched:
            wanted[fd] |= event
        for fd, events in wanted.items():
            poll.register(fd, events)
        found = None
        for fd, events in poll.poll(None if timeout_s is None else timeout_s * 1000):
            if fd == self._called:
                os.eventfd_read(fd)
                continue
            for event in (_READER, _WRITER):
                # One that has failed is ready for all.
                if events & event or not events & wanted[fd]:
                    found = found or self._watched.get((fd, event))
        return found

    # ---- as an event loop has them

    def add_reader(self, fd: int, callback: Callback, /) -> None:
        self._watched[fd, _READER] = callback

    def remove_reader(self, fd: int, /) -> None:
        self._watched.pop((fd, _READER), None)

    def add_writer(self, fd: int, callback: Callback, /) -> None:
        self._watched[fd, _WRITER] = callback

    def remove_writer(self, fd: int, /) -> None:
        self._watched.pop((fd, _WRITER), None)
