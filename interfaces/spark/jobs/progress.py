"""A progress line on a terminal, redrawn twice a second; Spark's own bar is hidden meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Self

from interfaces.spark.jvm import bars_hidden
from interfaces.terminal.progress import Line

_EVERY_S = 0.5


class Progress:
    """`with Progress(lambda seconds: f"...")`: a thread calls it with the seconds since then."""

    def __init__(self, text: Callable[[float], str]) -> None:
        self._text = text
        self._line = Line()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> Self:
        if self._line.is_shown:
            bars_hidden.set()
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._line.is_shown:
            self._done.set()
            self._thread.join()
            bars_hidden.clear()
            self._line.clear()

    def _draw(self) -> None:
        began = time.monotonic()
        while not self._done.wait(_EVERY_S):
            self._line.draw(self._text(time.monotonic() - began))
