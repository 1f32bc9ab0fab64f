"""Progress: a line that moves on a terminal, and nothing at all anywhere else."""

from __future__ import annotations

import os
import sys
import time
from typing import Self

_EVERY_S = 0.1
_WIDTH = 30
_GREEN, _PLAIN, _CLEAR = "\x1b[32m", "\x1b[0m", "\r\x1b[K"


def stays_silent() -> bool:
    """What is printed goes to a file or a program, so that nobody sees how far it is."""
    return not sys.stdout.isatty()


class Progress:
    """`with Progress("verify", total) as progress: progress.step(n)`"""

    def __init__(self, what: str, total: int, *, wanted: bool = True) -> None:
        self._what = what
        self._total = max(total, 1)
        self._done = 0
        self._next = 0.0
        self._shown = wanted and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._coloured = not os.environ.get("NO_COLOR")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown and self._next:
            print(_CLEAR, end="", file=sys.stderr, flush=True)

    def step(self, by: int = 1) -> None:
        self._done += by
        if not self._shown:
            return
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _EVERY_S
            print(_CLEAR + self.line(), end="", file=sys.stderr, flush=True)

    def line(self) -> str:
        share = min(self._done / self._total, 1.0)
        bar = "#" * int(share * _WIDTH)
        if self._coloured:
            bar = f"{_GREEN}{bar}{_PLAIN}"
        return f"{self._what} {share:4.0%} [{bar}{'.' * (_WIDTH - int(share * _WIDTH))}]"
