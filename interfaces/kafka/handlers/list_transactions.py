"""ListTransactions (key 66), versions 0-2 (KIP-664).

1  filter by duration (KIP-994)        2  filter by a pattern of RE2 (KIP-1152)
"""

from __future__ import annotations

from domain.security.access import Operation, ResourceType
from domain.transactions.states import State
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)

_STATES = {state.value: state for state in State}


def handle(request: ListTransactionsRequest, call: Call) -> ListTransactionsResponse:
    call.broker.transactions.coordinators.check_to_list()
    names = request.state_filters
    listed = call.broker.transactions.list_transactions.list(
        [_STATES[name] for name in names if name in _STATES] if names else None,
        set(request.producer_id_filters),
        request.duration_filter,
        request.transactional_id_pattern,
    )
    return ListTransactionsResponse(
        unknown_state_filters=[name for name in names if name not in _STATES],
        transaction_states=[
            TransactionState(
                transactional_id=one.transactional_id,
                producer_id=one.producer_id,
                transaction_state=one.state.value,
            )
            for one in listed
            if call.allows(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, one.transactional_id)
        ],
    )
