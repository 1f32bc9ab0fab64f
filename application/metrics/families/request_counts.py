"""RequestCounts: the requests of one version of an API, and where their time went; their totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

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


#: API, version, and what was counted of it.
Counted = tuple[str, int, RequestCounts]


class Totals(NamedTuple):
    requests: int
    errors: int
    bytes_in: int
    bytes_out: int


def totals_of(counted: Iterable[Counted]) -> tuple[Totals, Durations]:
    """Of all requests, and the durations of Produce."""
    requests = errors = bytes_in = bytes_out = 0
    produce = Durations()
    for api, _, counts in counted:
        requests += counts.requests
        errors += counts.errors.total()
        bytes_in += counts.bytes_in
        bytes_out += counts.bytes_out
        if api == "Produce":
            produce.merge(counts.total)
    return Totals(requests, errors, bytes_in, bytes_out), produce
