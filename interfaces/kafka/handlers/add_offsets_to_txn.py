"""AddOffsetsToTxn (key 25), versions 0-4 (KIP-98).

2  PRODUCER_FENCED (KIP-588)        3  flexible
4  TRANSACTION_ABORTABLE (KIP-890): here for a group that another broker coordinates
"""

from __future__ import annotations

from domain.errors import (
    BrokerError,
    ConcurrentTransactions,
    InvalidRequest,
    InvalidTxnState,
    TransactionAbortable,
)
from domain.transactions.transaction import ProducerIdAndEpoch
from interfaces.kafka.handlers.shared.transactions import respond_when_decided
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)

FIRST_WITH_FENCED = 2
FIRST_WITH_ABORTABLE = 4

EXPECTED = (ConcurrentTransactions,)


def handle(request: AddOffsetsToTxnRequest, call: Call) -> None:
    if not request.transactional_id:
        raise InvalidRequest("The transactional id is empty")
    if not call.broker.groups.coordinators.is_here(request.group_id):
        # After the transactional id: its coordinator may be another one, too.
        call.broker.transactions.coordinators.check_here(request.transactional_id)
        raise _unreachable(call.version)
    respond_when_decided(
        request,
        call,
        FIRST_WITH_FENCED,
        lambda: call.broker.transactions.coordinator.add_offsets(
            request.transactional_id,
            ProducerIdAndEpoch(request.producer_id, request.producer_epoch),
            request.group_id,
        ),
        lambda _: AddOffsetsToTxnResponse(),
    )


def _unreachable(version: int) -> BrokerError:
    """The offsets of a group are not sent to other brokers: they could not be committed there."""
    message = "Another broker coordinates the group"
    if version >= FIRST_WITH_ABORTABLE:
        return TransactionAbortable(message)
    return InvalidTxnState(message)
