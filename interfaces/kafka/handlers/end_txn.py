"""EndTxn (key 26), versions 0-5 (KIP-98).

 2  PRODUCER_FENCED (KIP-588)        3  flexible
 4  TRANSACTION_ABORTABLE (KIP-890; not used)
 5  transaction version 2: the producer's next id and epoch (KIP-890)

The response waits for the commit with the decision. Markers, offsets and the end are in it, too; in
later ones where other brokers lead partitions, or a partition is not in memory.
"""

from __future__ import annotations

from domain.errors import ConcurrentTransactions, InvalidRequest
from domain.transactions.transaction import TV_0, TV_2, ProducerIdAndEpoch
from interfaces.kafka.handlers.shared.transactions import respond_when_decided
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.end_txn import EndTxnRequest, EndTxnResponse

FIRST_WITH_FENCED = 2
FIRST_WITH_EPOCH = 5

EXPECTED = (ConcurrentTransactions,)


def handle(request: EndTxnRequest, call: Call) -> None:
    if not request.transactional_id:
        raise InvalidRequest("The transactional id is empty")
    respond_when_decided(
        request,
        call,
        FIRST_WITH_FENCED,
        request.transactional_id,
        lambda: call.broker.transactions.coordinator.end(
            request.transactional_id,
            ProducerIdAndEpoch(request.producer_id, request.producer_epoch),
            request.committed,
            TV_2 if call.version >= FIRST_WITH_EPOCH else TV_0,
        ),
        lambda next_producer: EndTxnResponse(
            producer_id=next_producer.producer_id, producer_epoch=next_producer.epoch
        ),
    )
