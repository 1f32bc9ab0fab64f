"""Limits of an event: memory by tracemalloc, time by the number of calls."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: For any event: the requests of the healthy client, and messages compiled at first use.
FREE_BYTES = 1 << 20
#: An element of three bytes may take two kilobytes until its response is sent.
BYTES_PER_BYTE = 400
FREE_CALLS = 20_000
CALLS_PER_BYTE = 25


class Meter:
    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.worst = 0.0

    @contextmanager
    def measured(self, size: int) -> Iterator[None]:
        if self._kind == "memory":
            tracemalloc.start()
            try:
                yield
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            allowed = FREE_BYTES + BYTES_PER_BYTE * size
            self.worst = max(self.worst, peak / allowed)
            assert peak <= allowed, f"{size} bytes cost {peak} bytes of memory"
        else:
            with _counted() as calls:
                yield
            allowed = FREE_CALLS + CALLS_PER_BYTE * size
            self.worst = max(self.worst, calls[0] / allowed)
            assert calls[0] <= allowed, f"{size} bytes cost {calls[0]} calls"


@contextmanager
def _counted() -> Iterator[list[int]]:
    calls = [0]

    def note(_frame: FrameType, event: str, _: object) -> None:
        if event in ("call", "c_call"):
            calls[0] += 1

    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)
