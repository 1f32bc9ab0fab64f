"""DelayedProduce: a produce request that waits for its commit, at most for its timeout.

Only a commit to a database lets anything else happen meanwhile. The broker looks at what
waits while a commit takes long, so that a request costs nothing for it otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from time import perf_counter_ns

from application.state.commits import Commits
from domain.errors import BrokerError, NotLeaderOrFollower, RequestTimedOut, StorageFailed
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.produce import ProduceResponse


class DelayedProduce(ABC):
    __slots__ = ("_call", "_timeout_ms")

    _call: Call
    _timeout_ms: int

    @abstractmethod
    def __call__(self, failure: StorageFailed | None) -> None:
        """Responds after the commit."""

    @abstractmethod
    def _unfinished(self, error: BrokerError) -> ProduceResponse:
        """What was appended has this error; what was refused has its own."""

    def responds_late(self) -> bool:
        """Responds if its timeout is over. The batches may still be committed, as in Kafka."""
        call = self._call
        if perf_counter_ns() - call.received_ns < self._timeout_ms * 1_000_000:
            return False
        has_lease = call.broker.placement.has_lease
        error = RequestTimedOut() if has_lease else NotLeaderOrFollower()
        try:
            call.respond(self._unfinished(error))
        except Exception as fault:  # of this request alone: it is logged, and its connection ends
            call.peer.failed(call, fault)
        return True


def respond_to_late(commits: Commits) -> None:
    """To requests whose timeout is over before their commit; they wait for it no more."""
    commits.forget(lambda waiting: isinstance(waiting, DelayedProduce) and waiting.responds_late())
