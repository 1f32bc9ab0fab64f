"""Progress: a line that moves on a terminal, twice a second, and nothing anywhere else."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Self

_EVERY_S = 0.5
_WIDTH = 30
_CLEAR = "\r\x1b[K"


class Progress:
    """`with Progress(lambda seconds: f"...")`: called from a thread with the seconds since then."""

    def __init__(self, line: Callable[[float], str]) -> None:
        self._line = line
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
            line = self._line(time.monotonic() - began)
            print(_CLEAR + line, end="", file=sys.stderr, flush=True)


def bar(what: str, share: float) -> str:
    """`share` is what is done of 1."""
    marks = "#" * int(min(share, 1.0) * _WIDTH)
    return f"{what} {min(share, 1.0):4.0%} [{marks:.<{_WIDTH}}]"
