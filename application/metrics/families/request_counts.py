"""RequestCounts: how many requests there were of one version of an API, and where their time went.

A duration in nanoseconds counts in the place of its bit length: durations twice as long stand one
place further. That is one small list a stage, made once, and no search for the right place.
"""

from __future__ import annotations

from collections.abc import Iterable

#: No duration has more bits than this.
PLACES = 64

#: Of a request, in the order in which it goes through them.
STAGES = ("queue", "decode", "handle", "wait", "send")


class RequestCounts:
    """Whoever finds an answer ready to leave adds to it, field by field: see the ledger."""

    __slots__ = (
        "bytes_in", "bytes_out", "decode", "decode_ns", "detailed", "errors", "handle",
        "handle_ns", "queue", "queue_ns", "send", "send_ns", "total", "total_ns", "unanswered",
        "wait", "wait_ns",
    )  # fmt: skip

    def __init__(self) -> None:
        self.bytes_in = 0
        self.bytes_out = 0
        #: Their connections ended first; these are no requests of the others.
        self.unanswered = 0
        self.total = [0] * PLACES
        self.total_ns = 0
        #: Of how many the stages are known.
        self.detailed = 0
        self.queue = [0] * PLACES
        self.queue_ns = 0
        self.decode = [0] * PLACES
        self.decode_ns = 0
        self.handle = [0] * PLACES
        self.handle_ns = 0
        self.wait = [0] * PLACES
        self.wait_ns = 0
        self.send = [0] * PLACES
        self.send_ns = 0
        #: Requests in whose answer a code occurs, by code.
        self.errors: dict[int, int] = {}

    @property
    def requests(self) -> int:
        return sum(self.total)

    def note_errors(self, codes: Iterable[int]) -> None:
        """Each code of one answer, once."""
        for code in codes:
            self.errors[code] = self.errors.get(code, 0) + 1

    def stage(self, name: str) -> tuple[list[int], int]:
        """How many durations there were of each bit length, and their sum in nanoseconds."""
        return getattr(self, name), getattr(self, f"{name}_ns")
