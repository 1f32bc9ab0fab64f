"""Transaction: what the coordinator knows of a transactional id, as a value.

The producer id and epoch are those of the latest producer with this transactional id; older ones
are fenced. Decisions (decisions.py) return the next value.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from domain.messages.batch import NO_PRODUCER_ID
from domain.transactions.states import NOT_OPEN, PREPARED, PREVIOUS, State

NO_EPOCH = -1
NO_TIMESTAMP = -1
MAX_EPOCH = 32767
#: Clients never get a later epoch: the coordinator needs one more to fence them.
LAST_EPOCH = MAX_EPOCH - 1

#: Transaction versions: in version 2 the epoch rises with each end (KIP-890).
TV_0, TV_2 = 0, 2

#: Topic and partition.
TopicPartition = tuple[str, int]


class ProducerIdAndEpoch(NamedTuple):
    producer_id: int
    epoch: int


class Transaction(NamedTuple):
    transactional_id: str
    producer_id: int
    timeout_ms: int
    updated_ms: int
    epoch: int = NO_EPOCH
    #: Of the producer before the latest change of the epoch; none if another producer made it.
    last_epoch: int = NO_EPOCH
    previous_producer_id: int = NO_PRODUCER_ID
    #: With the end of the transaction, because the epochs of this one are exhausted.
    next_producer_id: int = NO_PRODUCER_ID
    state: State = State.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    #: With offsets in the transaction.
    groups: frozenset[str] = frozenset()
    started_ms: int = NO_TIMESTAMP
    #: Of the request that ends it.
    version: int = TV_0
    #: It is prepared, and each marker is written, or requested of the leader of its partition.
    markers_requested: bool = False

    @property
    def producer(self) -> ProducerIdAndEpoch:
        return ProducerIdAndEpoch(self.producer_id, self.epoch)

    @property
    def next_producer(self) -> ProducerIdAndEpoch:
        """After the end of this transaction."""
        if self.next_producer_id == NO_PRODUCER_ID:
            return self.producer
        return ProducerIdAndEpoch(self.next_producer_id, 0)

    @property
    def is_open(self) -> bool:
        return self.state is State.ONGOING

    @property
    def is_prepared(self) -> bool:
        """It ends, and partitions may lack the marker."""
        return self.state in PREPARED

    @property
    def is_committed(self) -> bool:
        """It ends, or ended, with a commit."""
        return self.state in (State.PREPARE_COMMIT, State.COMPLETE_COMMIT)

    @property
    def is_exhausted(self) -> bool:
        return self.epoch >= LAST_EPOCH

    def is_timed_out(self, now_ms: int) -> bool:
        return self.is_open and self.started_ms + self.timeout_ms < now_ms

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        return self.state in NOT_OPEN and self.updated_ms <= now_ms - expiration_ms

    def to(self, state: State, now_ms: int, **changes: Any) -> Self:
        assert self.state in PREVIOUS[state], f"{self.state.name} to {state.name}"
        return self._replace(
            state=state,
            updated_ms=now_ms,
            previous_producer_id=self.producer_id,
            **changes,
        )
