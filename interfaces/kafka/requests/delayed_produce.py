"""DelayedProduce: a produce request that waits for its commit, at most for its timeout.

Only a store that commits in a thread lets anything else happen meanwhile. The broker looks at what
waits while a commit takes long, so that a request costs nothing for it otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from time import perf_counter_ns

from application.state.runtime import Done
from domain.errors import BrokerError, NotLeaderOrFollower, RequestTimedOut, StorageFailed
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.produce import ProduceResponse

_NO_LEASE = "a batch is not committed within the timeout of its request, and the lease is over"


class DelayedProduce(ABC):
    __slots__ = ("_call",)

    _call: Call

    @abstractmethod
    def __call__(self, failure: StorageFailed | None) -> None:
        """Responds after the commit."""

    @abstractmethod
    def _timeout_ms(self) -> int:
        """Of the request."""

    @abstractmethod
    def _unfinished(self, error: BrokerError) -> ProduceResponse:
        """What was appended has this error; what was refused has its own."""

    def has_timed_out(self) -> bool:
        """Responds then. The batches may still be committed, as in Kafka."""
        call = self._call
        if perf_counter_ns() - call.received_ns < self._timeout_ms() * 1_000_000:
            return False
        has_lease = call.broker.placement.has_lease
        error = RequestTimedOut() if has_lease else NotLeaderOrFollower()
        try:
            call.respond(self._unfinished(error))
        except Exception as fault:
            call.peer.failed(call, fault)
        if not has_lease:
            # Others know who leads now, and some clients ask only those that they are connected to.
            call.peer.close("no_lease", _NO_LEASE)
        return True


def has_timed_out(waiting: Done) -> bool:
    """It has responded, and waits for the commit no more."""
    return isinstance(waiting, DelayedProduce) and waiting.has_timed_out()
