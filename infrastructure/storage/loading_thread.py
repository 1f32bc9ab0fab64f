"""LoadingThread: what may wait for a disk or a server, one thing after the other, off the loop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from operator import methodcaller
from queue import SimpleQueue
from typing import Generic, TypeVar

from application.ports.pending import Pending
from application.state.notifying import notify_each

What = TypeVar("What")
Result = TypeVar("Result")


class LoadingThread(Generic[What, Result]):
    __slots__ = ("_load", "_loaded", "_name", "_queue", "_thread", "_to_loop", "closed")

    def __init__(
        self,
        load: Callable[[What], Result],
        loaded: Callable[[What, Result], None],
        to_loop: Callable[[Callable[[], None]], object],
        name: str = "ottla-reads",
    ) -> None:
        """`load` runs in the thread, and does not raise; `loaded` on the loop."""
        self._name = name
        self._load = load
        self._loaded = loaded
        self._to_loop = to_loop
        self._queue: SimpleQueue[tuple[What] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self.closed = False

    def put(self, what: What) -> bool:
        """False where there is no thread for it."""
        if self.closed or not self.start():
            return False
        self._queue.put((what,))
        return True

    def start(self) -> bool:
        """Otherwise at its first use. False: there is no further thread."""
        if self._thread is None:
            thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system has no further thread
                return False
            self._thread = thread
        return True

    def close(self, most_s: float | None = None) -> None:
        """Waits for what the thread does, but not longer than that."""
        self.closed = True
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(most_s)

    def _run(self) -> None:
        while (next_ := self._queue.get()) is not None and not self.closed:
            [what] = next_
            try:
                self._to_loop(partial(self._done, what, self._load(what)))
            except RuntimeError:  # the loop is closed
                return

    def _done(self, what: What, result: Result) -> None:
        if not self.closed:
            self._loaded(what, result)


def resolve_all(waiting: list[Pending[None]]) -> None:
    """Of reads that have waited for what is loaded now."""
    faults = notify_each(waiting, methodcaller("resolve", None))
    if faults:
        raise faults[0]
