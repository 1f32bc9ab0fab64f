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
    """The accounting of requests adds to it, field by field, when a response leaves."""

    __slots__ = (
        "bytes_in", "bytes_out", "errors", "stages", "stages_ns", "total", "total_ns", "unanswered",
    )  # fmt: skip

    def __init__(self) -> None:
        self.bytes_in = 0
        self.bytes_out = 0
        #: Their connections ended first; these are no requests of the others.
        self.unanswered = 0
        self.total = [0] * PLACES
        self.total_ns = 0
        #: Of those requests of which the stages are known.
        self.stages = [[0] * PLACES for _ in STAGES]
        self.stages_ns = [0] * len(STAGES)
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
        if name == "total":
            return self.total, self.total_ns
        place = STAGES.index(name)
        return self.stages[place], self.stages_ns[place]
