"""Clients in threads that repeat something until it is enough."""

from __future__ import annotations

import threading


class Repeating(threading.Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.enough = threading.Event()
        #: For the test to look at, also after `stop`.
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self.repeat()
        except BaseException as failure:
            self.failure = failure

    def repeat(self) -> None:
        raise NotImplementedError

    def end(self) -> None:
        self.enough.set()

    def stop(self) -> None:
        self.end()
        self.join()
