"""RequestCounts: the requests of one version of an API, and where their time went."""

from __future__ import annotations

from collections import Counter

from application.metrics.families.durations import Durations

#: The stages of a request, in order.
STAGES = ("queue", "decode", "handle", "wait", "send")


class RequestCounts:
    """The accounting of requests adds to it, field by field, when a response leaves."""

    __slots__ = ("bytes_in", "bytes_out", "errors", "stages", "total", "without_response")

    def __init__(self) -> None:
        self.bytes_in = 0
        self.bytes_out = 0
        #: Their connections ended first; these are no requests of the others.
        self.without_response = 0
        self.total = Durations()
        #: Of those of which it is noted.
        self.stages = {stage: Durations() for stage in STAGES}
        #: Requests by error code in their response.
        self.errors: Counter[int] = Counter()

    @property
    def requests(self) -> int:
        return sum(self.total.places)

    def merge(self, other: RequestCounts) -> None:
        self.bytes_in += other.bytes_in
        self.bytes_out += other.bytes_out
        self.without_response += other.without_response
        self.total.merge(other.total)
        for stage, durations in other.stages.items():
            self.stages[stage].merge(durations)
        self.errors.update(other.errors)
