"""Line: a progress line on a terminal, and nothing elsewhere."""

from __future__ import annotations

import os
import sys

_WIDTH = 30
_GREEN, _PLAIN, _CLEAR = "\x1b[32m", "\x1b[0m", "\r\x1b[K"


class Line:
    def __init__(self, *, enabled: bool = True) -> None:
        self.is_shown = enabled and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_drawn = False

    def draw(self, text: str) -> None:
        if self.is_shown:
            self._is_drawn = True
            print(_CLEAR + text, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._is_drawn:
            print(_CLEAR, end="", file=sys.stderr, flush=True)


def bar(what: str, share: float) -> str:
    """`share` is between 0 and 1."""
    share = min(share, 1.0)
    count = int(share * _WIDTH)
    done = "#" * count
    if not os.environ.get("NO_COLOR"):
        done = f"{_GREEN}{done}{_PLAIN}"
    return f"{what} {share:4.0%} [{done}{'.' * (_WIDTH - count)}]"
