"""Decisions about a transaction: pure functions that return its next value, or raise.

Kafka's rules for both transaction versions (KIP-98, KIP-360, KIP-890).
"""

from __future__ import annotations

from domain.errors import (
    ConcurrentTransactions,
    InvalidProducerIdMapping,
    InvalidRequest,
    InvalidTxnState,
    ProducerFenced,
    TransactionAbortable,
)
from domain.messages.batch import NO_PRODUCER_ID
from domain.transactions.states import State
from domain.transactions.transaction import (
    LAST_EPOCH,
    MAX_EPOCH,
    NO_EPOCH,
    NO_TIMESTAMP,
    TV_2,
    ProducerIdAndEpoch,
    TopicPartition,
    Transaction,
)

NO_PARTITIONS: frozenset[TopicPartition] = frozenset()
NO_GROUPS: frozenset[str] = frozenset()
#: Of one transaction, whose row has their ids; Kafka has at most the partitions of their topic.
MAX_GROUPS = 100
#: (partitions, groups)
Added = tuple[frozenset[TopicPartition], frozenset[str]]


# ---- InitProducerId


def check_expected(before: Transaction, expected: ProducerIdAndEpoch | None) -> None:
    """The producer that continues after an error must be the latest (KIP-360)."""
    if expected is None or before.epoch == NO_EPOCH or expected.producer_id == before.producer_id:
        return
    # A retry, after a change of the producer id whose response was lost.
    if expected.producer_id == before.previous_producer_id and expected.epoch >= LAST_EPOCH:
        return
    raise _fenced(before)


def needs_producer_id(before: Transaction, expected: ProducerIdAndEpoch | None) -> bool:
    if not before.is_exhausted:
        return False
    if expected is None or expected.epoch == before.epoch:
        return True
    # Of a producer that timed out in the last epoch; Kafka fails.
    return before.epoch > LAST_EPOCH and expected.epoch == before.last_epoch


def init_producer_id(
    before: Transaction,
    timeout_ms: int,
    expected: ProducerIdAndEpoch | None,
    new_producer_id: int,
    now_ms: int,
) -> Transaction:
    """Of a transaction that is not open; `new_producer_id` is used if `needs_producer_id`."""
    check_expected(before, expected)
    if before.is_open or before.is_prepared:
        raise ConcurrentTransactions()
    producer_id, epoch, last_epoch = before.producer_id, before.epoch + 1, NO_EPOCH
    if needs_producer_id(before, expected):
        producer_id, epoch = new_producer_id, 0
        if expected is not None:
            last_epoch = before.epoch
    elif expected is not None:
        if before.epoch in (NO_EPOCH, expected.epoch):
            last_epoch = before.epoch
        elif expected.epoch == before.last_epoch:  # a retry: its response was lost
            epoch, last_epoch = before.epoch, before.last_epoch
        else:
            raise _fenced(before)
    return before.to(
        State.EMPTY,
        now_ms,
        producer_id=producer_id,
        epoch=epoch,
        last_epoch=last_epoch,
        timeout_ms=timeout_ms,
        started_ms=NO_TIMESTAMP,
    )


# ---- AddPartitionsToTxn, AddOffsetsToTxn, and requests that add implicitly


def check_producer(before: Transaction, producer: ProducerIdAndEpoch) -> None:
    """Raises unless this producer may add to the transaction, or start one."""
    if before.is_prepared and producer == before.next_producer:  # also with a new producer id
        raise ConcurrentTransactions()
    if producer.producer_id != before.producer_id:
        raise _unknown_mapping(before.transactional_id)
    if producer.epoch != before.epoch:
        raise _fenced(before)
    if before.is_prepared:
        raise ConcurrentTransactions()


def has(before: Transaction, added: Added) -> bool:
    partitions, groups = added
    return before.is_open and partitions <= before.partitions and groups <= before.groups


def add(
    before: Transaction, producer: ProducerIdAndEpoch, added: Added, version: int, now_ms: int
) -> Transaction:
    """Starts a transaction if there is none; returns the same value if there is nothing to add."""
    check_producer(before, producer)
    if has(before, added):
        return before
    partitions, groups = before.partitions | added[0], before.groups | added[1]
    if len(groups) > MAX_GROUPS:
        raise InvalidRequest(f"A transaction has offsets of at most {MAX_GROUPS} groups")
    return before.to(
        State.ONGOING,
        now_ms,
        partitions=partitions,
        groups=groups,
        started_ms=before.started_ms if before.is_open else now_ms,
        version=version,
    )


def verify(before: Transaction, producer: ProducerIdAndEpoch, added: Added) -> None:
    """For clients that add explicitly: raises if they did not."""
    check_producer(before, producer)
    if not has(before, added):
        raise TransactionAbortable("Partition was not added to the transaction")


# ---- EndTxn


def prepare_end(
    before: Transaction,
    producer: ProducerIdAndEpoch,
    committed: bool,
    version: int,
    new_producer_id: int,
    now_ms: int,
) -> Transaction | None:
    """None: a retry of an end that is done. `new_producer_id` is used if the epoch is exhausted
    and rises.
    """
    if version < TV_2:
        if _is_done(before, producer, committed):
            return None
        return before.to(_prepared(committed), now_ms, version=version)
    if _is_done_or_retried(before, producer, committed):
        return None
    return before.to(
        _prepared(committed),
        now_ms,
        version=version,
        epoch=min(before.epoch + 1, MAX_EPOCH),
        last_epoch=before.epoch,
        next_producer_id=new_producer_id if before.is_exhausted else NO_PRODUCER_ID,
        started_ms=before.started_ms if before.is_open else now_ms,
    )


def _is_done(before: Transaction, producer: ProducerIdAndEpoch, committed: bool) -> bool:
    """Transaction version 1: the epoch stays, so an end and its retry look the same."""
    if producer.producer_id != before.producer_id:
        raise _unknown_mapping(before.transactional_id)
    if producer.epoch != before.epoch:
        raise _fenced(before)
    if before.is_open:
        return False
    if before.state is State.EMPTY or committed != before.is_committed:
        raise _illegal(before, committed)
    if before.is_prepared:
        raise ConcurrentTransactions()
    return True


def _is_done_or_retried(before: Transaction, producer: ProducerIdAndEpoch, committed: bool) -> bool:
    """Transaction version 2: the epoch of a retry is one behind, and no other producer raised it.

    Kafka does not check the latter: a zombie may get the epoch of a producer that uses version 1.
    """
    is_overflow = producer == (before.previous_producer_id, LAST_EPOCH) and before.epoch == 0
    if producer.producer_id != before.producer_id and not is_overflow:
        raise _unknown_mapping(before.transactional_id)
    is_retry = is_overflow or producer.epoch + 1 == before.epoch
    is_retry = is_retry and producer.epoch == before.last_epoch
    is_current = producer.epoch == before.epoch
    if before.is_open or before.state is State.EMPTY:
        is_retry = False
        legal = is_current
    else:
        legal = is_retry or (is_current and not before.is_prepared)
    if not legal:
        raise _fenced(before)
    if before.is_open:
        return False
    if not is_retry:
        if committed:
            raise _illegal(before, committed)
        return False  # an abort of nothing: the epoch rises
    if committed and before.state is State.COMPLETE_ABORT:
        # The broker aborted it meanwhile: Kafka Streams ends at INVALID_TXN_STATE (KAFKA-20785).
        raise _fenced(before)
    if committed != before.is_committed:
        raise _illegal(before, committed)
    if before.is_prepared:
        raise ConcurrentTransactions()
    return True


def fence(before: Transaction, version: int, now_ms: int) -> Transaction:
    """Aborts the open transaction of a producer that timed out or was replaced.

    In version 2 it may continue after a timeout, with InitProducerId; a new producer fences it.
    """
    return before.to(
        State.PREPARE_ABORT,
        now_ms,
        version=version,
        epoch=min(before.epoch + 1, MAX_EPOCH),
        last_epoch=before.epoch if version >= TV_2 else NO_EPOCH,
    )


def complete(before: Transaction, now_ms: int) -> Transaction:
    """All markers are written."""
    producer_id, epoch = before.next_producer
    return before.to(
        State.COMPLETE_COMMIT if before.is_committed else State.COMPLETE_ABORT,
        now_ms,
        producer_id=producer_id,
        epoch=epoch,
        next_producer_id=NO_PRODUCER_ID,
        partitions=NO_PARTITIONS,
        groups=NO_GROUPS,
        markers_requested=False,
    )


def _prepared(committed: bool) -> State:
    return State.PREPARE_COMMIT if committed else State.PREPARE_ABORT


def _unknown_mapping(transactional_id: str) -> InvalidProducerIdMapping:
    return InvalidProducerIdMapping(
        f"The producer id is not that of the transactional id {transactional_id}"
    )


def _fenced(before: Transaction) -> ProducerFenced:
    return ProducerFenced(
        f"There is a newer producer with the transactional id {before.transactional_id}"
    )


def _illegal(before: Transaction, committed: bool) -> InvalidTxnState:
    return InvalidTxnState(
        f"A transaction in state {before.state.value} cannot be "
        f"{'committed' if committed else 'aborted'}"
    )
