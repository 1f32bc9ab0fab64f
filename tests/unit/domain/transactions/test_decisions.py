"""Every outcome, as in Kafka; the oracle has the responses."""

from __future__ import annotations

import pytest

from domain.errors import (
    BrokerError,
    ConcurrentTransactions,
    InvalidProducerIdMapping,
    InvalidRequest,
    InvalidTxnState,
    ProducerFenced,
    TransactionAbortable,
)
from domain.transactions import decisions
from domain.transactions.decisions import MAX_GROUPS, NO_PARTITIONS, Added
from domain.transactions.states import State
from domain.transactions.transaction import (
    LAST_EPOCH,
    MAX_EPOCH,
    TV_0,
    TV_2,
    ProducerIdAndEpoch,
    Transaction,
)

EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT, *_ = State
NOW, ID, NEW_ID = 1000, 7, 8
PLACES: Added = (frozenset({("t", 0)}), frozenset({"g"}))


def transaction(state: State = EMPTY, epoch: int = 5, last_epoch: int = 4) -> Transaction:
    partitions, groups = PLACES if state in (ONGOING, PREPARE_COMMIT, PREPARE_ABORT) else ((), ())
    return Transaction(
        "id",
        ID,
        timeout_ms=100,
        updated_ms=1,
        epoch=epoch,
        last_epoch=last_epoch,
        previous_producer_id=ID,
        state=state,
        partitions=frozenset(partitions),
        groups=frozenset(groups),
        started_ms=1 if state is not EMPTY else -1,
    )


def producer(epoch: int, producer_id: int = ID) -> ProducerIdAndEpoch:
    return ProducerIdAndEpoch(producer_id, epoch)


# ---- InitProducerId


def test_a_new_transactional_id_starts_with_epoch_0() -> None:
    new = Transaction("id", ID, timeout_ms=1, updated_ms=1)
    first = decisions.init_producer_id(new, 100, None, NEW_ID, NOW)
    assert (first.producer, first.state, first.timeout_ms) == ((ID, 0), EMPTY, 100)
    expected = producer(3, 99)
    assert decisions.init_producer_id(new, 100, expected, NEW_ID, NOW).producer == (ID, 0)


@pytest.mark.parametrize(
    ("before", "expected", "after", "last_epoch"),
    [
        (transaction(), None, (ID, 6), -1),
        (transaction(COMPLETE_COMMIT), None, (ID, 6), -1),
        (transaction(), producer(5), (ID, 6), 5),
        # A retry whose response was lost; the one before it.
        (transaction(COMPLETE_ABORT), producer(4), (ID, 5), 4),
        (transaction(), producer(3), ProducerFenced, None),
        (transaction(), producer(6), ProducerFenced, None),
        (transaction(), producer(5, 99), ProducerFenced, None),
        (transaction(ONGOING), None, ConcurrentTransactions, None),
        (transaction(PREPARE_ABORT), None, ConcurrentTransactions, None),
        (transaction(PREPARE_COMMIT), producer(5, 99), ProducerFenced, None),
        # Epochs are exhausted.
        (transaction(epoch=LAST_EPOCH), None, (NEW_ID, 0), -1),
        (transaction(epoch=LAST_EPOCH), producer(LAST_EPOCH), (NEW_ID, 0), LAST_EPOCH),
        (transaction(epoch=MAX_EPOCH), None, (NEW_ID, 0), -1),
        (
            transaction(COMPLETE_ABORT, MAX_EPOCH, LAST_EPOCH),
            producer(LAST_EPOCH),
            (NEW_ID, 0),
            MAX_EPOCH,
        ),
    ],
)
def test_init_producer_id_raises_the_epoch_or_fences(
    before: Transaction,
    expected: ProducerIdAndEpoch | None,
    after: tuple[int, int] | type[BrokerError],
    last_epoch: int | None,
) -> None:
    if isinstance(after, type):
        with pytest.raises(after):
            decisions.init_producer_id(before, 50, expected, NEW_ID, NOW)
        return
    found = decisions.init_producer_id(before, 50, expected, NEW_ID, NOW)
    assert (found.producer, found.last_epoch, found.state) == (after, last_epoch, EMPTY)
    assert (found.timeout_ms, found.started_ms, found.updated_ms) == (50, -1, NOW)


def test_a_retry_after_a_change_of_the_producer_id_gets_the_new_one_again() -> None:
    expected = producer(LAST_EPOCH)
    before = transaction(epoch=LAST_EPOCH)
    changed = decisions.init_producer_id(before, 50, expected, NEW_ID, NOW)
    again = decisions.init_producer_id(changed, 50, expected, 9, NOW)
    assert again.producer == changed.producer == (NEW_ID, 0)


# ---- adding


def test_a_transaction_has_offsets_of_a_limited_number_of_groups() -> None:
    def add(*group_ids: str) -> Transaction:
        added = NO_PARTITIONS, frozenset(group_ids)
        return decisions.add(transaction(), producer(5), added, TV_2, NOW)

    groups = [f"g{number}" for number in range(MAX_GROUPS)]
    assert len(add(*groups).groups) == MAX_GROUPS
    with pytest.raises(InvalidRequest):
        add(*groups, "one more")


@pytest.mark.parametrize(
    ("before", "by", "refusal"),
    [
        (transaction(ONGOING), producer(5, 99), InvalidProducerIdMapping),
        (transaction(ONGOING), producer(4), ProducerFenced),
        (transaction(ONGOING), producer(6), ProducerFenced),
        (transaction(PREPARE_COMMIT), producer(5), ConcurrentTransactions),
        (transaction(PREPARE_ABORT), producer(5), ConcurrentTransactions),
    ],
)
def test_only_the_latest_producer_adds_to_a_transaction(
    before: Transaction, by: ProducerIdAndEpoch, refusal: type[BrokerError]
) -> None:
    with pytest.raises(refusal):
        decisions.add(before, by, PLACES, TV_0, NOW)
    with pytest.raises(refusal):
        decisions.verify(before, by, PLACES)


def test_the_first_partition_starts_the_transaction_and_the_next_ones_join() -> None:
    none: frozenset[str] = frozenset()
    for state in (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT):
        first = decisions.add(transaction(state), producer(5), PLACES, TV_2, NOW)
        assert (first.state, first.started_ms, first.version) == (ONGOING, NOW, TV_2)
    more = decisions.add(first, producer(5), (frozenset({("t", 1)}), none), TV_2, NOW + 1)
    assert more.partitions == {("t", 0), ("t", 1)}
    assert (more.groups, more.started_ms, more.updated_ms) == ({"g"}, NOW, NOW + 1)
    assert decisions.add(more, producer(5), PLACES, TV_2, NOW + 2) is more
    decisions.verify(more, producer(5), PLACES)
    for missing in ((frozenset({("t", 2)}), none), (frozenset(), frozenset({"h"}))):
        with pytest.raises(TransactionAbortable):
            decisions.verify(more, producer(5), missing)
    with pytest.raises(TransactionAbortable):
        decisions.verify(transaction(EMPTY), producer(5), PLACES)


# ---- EndTxn

DONE = None
COMMIT, ABORT = True, False


@pytest.mark.parametrize(
    ("state", "committed", "outcome"),
    [
        (EMPTY, COMMIT, InvalidTxnState),
        (EMPTY, ABORT, InvalidTxnState),
        (ONGOING, COMMIT, PREPARE_COMMIT),
        (ONGOING, ABORT, PREPARE_ABORT),
        (PREPARE_COMMIT, COMMIT, ConcurrentTransactions),
        (PREPARE_COMMIT, ABORT, InvalidTxnState),
        (PREPARE_ABORT, COMMIT, InvalidTxnState),
        (PREPARE_ABORT, ABORT, ConcurrentTransactions),
        (COMPLETE_COMMIT, COMMIT, DONE),
        (COMPLETE_COMMIT, ABORT, InvalidTxnState),
        (COMPLETE_ABORT, COMMIT, InvalidTxnState),
        (COMPLETE_ABORT, ABORT, DONE),
    ],
)
def test_transaction_version_1_ends_a_transaction_and_its_epoch_stays(
    state: State, committed: bool, outcome: State | type[BrokerError] | None
) -> None:
    before = transaction(state)
    for stale, refusal in (
        (producer(4), ProducerFenced),
        (producer(6), ProducerFenced),
        (producer(5, 99), InvalidProducerIdMapping),
    ):
        with pytest.raises(refusal):
            decisions.prepare_end(before, stale, committed, TV_0, NEW_ID, NOW)
    if isinstance(outcome, type):
        with pytest.raises(outcome):
            decisions.prepare_end(before, producer(5), committed, TV_0, NEW_ID, NOW)
        return
    after = decisions.prepare_end(before, producer(5), committed, TV_0, NEW_ID, NOW)
    if outcome is DONE:
        assert after is None
        return
    assert after is not None
    assert (after.state, after.producer, after.partitions) == (outcome, (ID, 5), PLACES[0])


@pytest.mark.parametrize(
    ("state", "committed", "of_retry", "of_current"),
    [
        (EMPTY, COMMIT, ProducerFenced, InvalidTxnState),
        (EMPTY, ABORT, ProducerFenced, PREPARE_ABORT),
        (ONGOING, COMMIT, ProducerFenced, PREPARE_COMMIT),
        (ONGOING, ABORT, ProducerFenced, PREPARE_ABORT),
        (PREPARE_COMMIT, COMMIT, ConcurrentTransactions, ProducerFenced),
        (PREPARE_COMMIT, ABORT, InvalidTxnState, ProducerFenced),
        (PREPARE_ABORT, COMMIT, InvalidTxnState, ProducerFenced),
        (PREPARE_ABORT, ABORT, ConcurrentTransactions, ProducerFenced),
        (COMPLETE_COMMIT, COMMIT, DONE, InvalidTxnState),
        (COMPLETE_COMMIT, ABORT, InvalidTxnState, PREPARE_ABORT),
        (COMPLETE_ABORT, COMMIT, ProducerFenced, InvalidTxnState),
        (COMPLETE_ABORT, ABORT, DONE, PREPARE_ABORT),
    ],
)
def test_transaction_version_2_ends_a_transaction_and_raises_the_epoch(
    state: State,
    committed: bool,
    of_retry: State | type[BrokerError] | None,
    of_current: State | type[BrokerError] | None,
) -> None:
    before = transaction(state)
    for by, outcome in ((producer(4), of_retry), (producer(5), of_current)):
        if isinstance(outcome, type):
            with pytest.raises(outcome):
                decisions.prepare_end(before, by, committed, TV_2, NEW_ID, NOW)
            continue
        after = decisions.prepare_end(before, by, committed, TV_2, NEW_ID, NOW)
        if outcome is DONE:
            assert after is None
            continue
        assert after is not None
        assert (after.state, after.producer, after.last_epoch) == (outcome, (ID, 6), 5)
        assert after.started_ms == (1 if state is ONGOING else NOW)
    for stale, refusal in (
        (producer(3), ProducerFenced),
        (producer(6), ProducerFenced),
        (producer(5, 99), InvalidProducerIdMapping),
    ):
        with pytest.raises(refusal):
            decisions.prepare_end(before, stale, committed, TV_2, NEW_ID, NOW)


@pytest.mark.parametrize("state", [PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT])
def test_a_zombie_does_not_get_the_epoch_of_its_successor(state: State) -> None:
    """Which was initialized, and ended its transaction with version 1."""
    for committed in (COMMIT, ABORT):
        with pytest.raises(ProducerFenced):
            decisions.prepare_end(
                transaction(state, last_epoch=-1), producer(4), committed, TV_2, NEW_ID, NOW
            )
    successor = transaction(state, epoch=0, last_epoch=-1)._replace(
        producer_id=NEW_ID, previous_producer_id=ID
    )
    with pytest.raises(ProducerFenced):
        decisions.prepare_end(successor, producer(LAST_EPOCH), ABORT, TV_2, 9, NOW)


def test_the_end_of_the_last_epoch_gives_a_new_producer_id_and_its_retry_the_same() -> None:
    last = producer(LAST_EPOCH)
    before = transaction(ONGOING, LAST_EPOCH)
    prepared = decisions.prepare_end(before, last, COMMIT, TV_2, NEW_ID, NOW)
    assert prepared is not None
    assert prepared.producer == (ID, MAX_EPOCH), "the epoch of the markers"
    with pytest.raises(ConcurrentTransactions):
        decisions.add(prepared, producer(0, NEW_ID), PLACES, TV_2, NOW)
    done = decisions.complete(prepared, NOW)
    assert (done.producer, done.state, done.partitions) == ((NEW_ID, 0), COMPLETE_COMMIT, set())
    assert decisions.prepare_end(done, last, COMMIT, TV_2, 9, NOW) is None
    with pytest.raises(InvalidTxnState):
        decisions.prepare_end(done, last, ABORT, TV_2, 9, NOW)


@pytest.mark.parametrize(("version", "last_epoch"), [(TV_0, -1), (TV_2, 5)])
def test_a_fenced_transaction_is_aborted_with_the_next_epoch(version: int, last_epoch: int) -> None:
    fenced = decisions.fence(transaction(ONGOING), version, NOW)
    assert (fenced.producer, fenced.last_epoch, fenced.state) == (
        (ID, 6),
        last_epoch,
        PREPARE_ABORT,
    )
    done = decisions.complete(fenced, NOW)
    assert (done.producer, done.state, done.groups) == ((ID, 6), COMPLETE_ABORT, set())
    assert decisions.fence(transaction(ONGOING, MAX_EPOCH), version, NOW).epoch == MAX_EPOCH


def test_only_open_transactions_time_out_and_only_ended_ones_expire() -> None:
    for state in (EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT):
        one = transaction(state)
        assert one.is_timed_out(102) is (state is ONGOING)
        assert not one.is_timed_out(101)
        is_ended = state in (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)
        assert one.is_expired(11, 10) is is_ended
        assert not one.is_expired(10, 10)
