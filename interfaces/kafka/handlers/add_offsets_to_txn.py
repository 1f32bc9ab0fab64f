"""AddOffsetsToTxn (key 25), versions 0-4 (KIP-98).

2  PRODUCER_FENCED (KIP-588)        3  flexible
4  TRANSACTION_ABORTABLE (KIP-890; not used)
"""

from __future__ import annotations

from domain.errors import ConcurrentTransactions, InvalidRequest
from domain.transactions.transaction import ProducerIdAndEpoch
from interfaces.kafka.handlers.shared.transactions import respond_when_decided
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)

FIRST_WITH_FENCED = 2

EXPECTED = (ConcurrentTransactions,)


def handle(request: AddOffsetsToTxnRequest, call: Call) -> None:
    if not request.transactional_id:
        raise InvalidRequest("The transactional id is empty")
    respond_when_decided(
        request,
        call,
        FIRST_WITH_FENCED,
        request.transactional_id,
        lambda: call.broker.transactions.coordinator.add_offsets(
            request.transactional_id,
            ProducerIdAndEpoch(request.producer_id, request.producer_epoch),
            request.group_id,
        ),
        lambda _: AddOffsetsToTxnResponse(),
    )
