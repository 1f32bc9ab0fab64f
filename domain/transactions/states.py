"""The states of a transaction, and the table of their transitions.

`domain/transactions/transaction.py:Transaction.to` uses this table only.
"""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """With Kafka's names."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    #: Never stored: fencing and the decision to abort are one step.
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    #: Expired: the transactional id has no row any more.
    DEAD = "Dead"


NOT_OPEN = (State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT)
PREPARED = (State.PREPARE_COMMIT, State.PREPARE_ABORT)

#: The states from which a transaction may come to a state.
PREVIOUS: dict[State, tuple[State, ...]] = {
    State.EMPTY: NOT_OPEN,
    State.ONGOING: (State.ONGOING, *NOT_OPEN),
    State.PREPARE_COMMIT: (State.ONGOING,),
    State.PREPARE_EPOCH_FENCE: (State.ONGOING,),
    # Of a transaction that is not open: EndTxn version 5, whose epoch rises.
    State.PREPARE_ABORT: (State.ONGOING, State.PREPARE_EPOCH_FENCE, *NOT_OPEN),
    State.COMPLETE_COMMIT: (State.PREPARE_COMMIT,),
    State.COMPLETE_ABORT: (State.PREPARE_ABORT,),
    State.DEAD: NOT_OPEN,
}
