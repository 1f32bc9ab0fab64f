"""Progress: a line that moves on a terminal, by the clock, and nothing anywhere else."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Self

_EVERY_S = 0.5
_WIDTH = 30
_CLEAR = "\r\x1b[K"


class Progress:
    """`with Progress("archive", 60.0):`."""

    def __init__(self, what: str, seconds: float) -> None:
        self._what = what
        self._seconds = max(seconds, 0.001)
        self._done = threading.Event()
        self._shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._teller = threading.Thread(target=self._tell, daemon=True)

    def __enter__(self) -> Self:
        if self._shown:
            self._teller.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._done.set()
            self._teller.join()
            print(_CLEAR, end="", file=sys.stderr, flush=True)

    def _tell(self) -> None:
        began = time.monotonic()
        while not self._done.wait(_EVERY_S):
            line = self.line(time.monotonic() - began)
            print(_CLEAR + line, end="", file=sys.stderr, flush=True)

    def line(self, seconds: float) -> str:
        share = min(seconds / self._seconds, 1.0)
        bar = "#" * int(share * _WIDTH)
        return f"{self._what} {share:4.0%} [{bar:.<{_WIDTH}}]"
