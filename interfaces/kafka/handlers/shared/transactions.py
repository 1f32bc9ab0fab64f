"""Common parts of the requests of transactional producers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from application.ports.pending import Pending
from application.transactions.coordinator import decided_after
from application.transactions.verification import ReadsOfRequest
from domain.errors import (
    BrokerError,
    ConcurrentTransactions,
    CoordinatorNotAvailable,
    InvalidProducerEpoch,
    ProducerFenced,
    StorageFailed,
)
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.schema import Response

R = TypeVar("R")


def reads_elsewhere(call: Call, transactional_id: str | None) -> ReadsOfRequest | None:
    """None: this broker coordinates the transaction, or would."""
    transactions = call.broker.transactions
    if not transactional_id or transactions.coordinators.is_here(transactional_id):
        return None
    # The same when it runs again.
    request_id = call.peer.client.connection_id, call.correlation_id
    return ReadsOfRequest(transactions.verification, request_id, transactional_id)


def respond_when_decided(
    request: Any,
    call: Call,
    first_with_fenced: int,
    transactional_id: str,
    decide: Callable[[], Pending[R | BrokerError]],
    response: Callable[[R], Response],
) -> None:
    """Versions before `first_with_fenced` do not know PRODUCER_FENCED (KIP-588).

    If the transaction before it is ending, the request waits a moment, and is decided again.

    A store that fails is a coordinator that is not available, as in Kafka: clients repeat that.
    """
    has_fenced = call.version >= first_with_fenced
    try:
        decided = decide()
    except ConcurrentTransactions:
        ended = call.broker.transactions.end_wait.shortly(transactional_id)
        if ended is None:
            raise
        decided = decided_after(ended, lambda _: decide())
    except ProducerFenced as fenced:
        raise fenced if has_fenced else _older(fenced) from None
    except StorageFailed as failure:
        raise CoordinatorNotAvailable(failure.message) from failure

    def respond(result: R | BrokerError) -> Response:
        if isinstance(result, BrokerError):
            if isinstance(result, ProducerFenced) and not has_fenced:
                result = _older(result)
            elif isinstance(result, StorageFailed):
                result = CoordinatorNotAvailable(result.message)
            return call.refused(request, result)
        return response(result)

    call.respond_later(decided, respond)


def _older(fenced: ProducerFenced) -> InvalidProducerEpoch:
    return InvalidProducerEpoch(fenced.message)
