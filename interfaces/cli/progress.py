"""Progress: a bar for a command that works step by step."""

from __future__ import annotations

import sys
import time
from typing import Self

from interfaces.terminal.progress import Line, bar

_EVERY_S = 0.1


def stays_silent() -> bool:
    """Whether stdout is a file or a pipe, so that records do not show the progress."""
    return not sys.stdout.isatty()


class Progress:
    """`with Progress("verify", total) as progress: progress.step(n)`"""

    def __init__(self, what: str, total: int, *, enabled: bool = True) -> None:
        self._what = what
        self._total = max(total, 1)
        self._done = 0
        self._next = 0.0
        self._line = Line(enabled=enabled)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.clear()

    def step(self, by: int = 1) -> None:
        self._done += by
        if self._line.is_shown and (now := time.monotonic()) >= self._next:
            self._next = now + _EVERY_S
            self._line.draw(bar(self._what, self._done / self._total))
