"""TransactionRepository over every engine."""

from __future__ import annotations

import json

import pytest

from domain.errors import StorageFailed
from domain.transactions.states import State
from domain.transactions.transaction import Transaction
from infrastructure.storage.repositories.transaction_repository import StoredTransactionRepository
from tests.contract.engines import OpenStore

OPEN = Transaction(
    "ünïcode " * 4000,
    7,
    timeout_ms=60_000,
    updated_ms=1_700_000_000_001,
    epoch=5,
    last_epoch=4,
    previous_producer_id=6,
    next_producer_id=8,
    state=State.ONGOING,
    partitions=frozenset({("a", 0), ("a", 11), ("b", 2)}),
    groups=frozenset({"g", "h"}),
    started_ms=1_700_000_000_000,
    version=2,
)
NEW = Transaction("new", 9, timeout_ms=1, updated_ms=0)


def test_transactions_stay_and_the_latest_value_replaces_the_one_before(
    lasting_store: OpenStore,
) -> None:
    transactions = StoredTransactionRepository(lasting_store.state)
    for one in (OPEN, NEW, NEW._replace(epoch=1)):
        transactions.save(one.transactional_id, one)
    assert list(transactions.load()) == []
    lasting_store.keep()
    lasting_store.reopen()
    transactions = StoredTransactionRepository(lasting_store.state)
    assert set(transactions.load()) == {OPEN, NEW._replace(epoch=1)}
    assert list(transactions.load(lambda one: one != "new")) == [OPEN]
    transactions.save(OPEN.transactional_id, None)
    lasting_store.keep()
    lasting_store.reopen()
    assert set(StoredTransactionRepository(lasting_store.state).load()) == {NEW._replace(epoch=1)}


def test_one_is_read_by_its_transactional_id(store: OpenStore) -> None:
    transactions = StoredTransactionRepository(store.state)
    ending = NEW._replace(state=State.PREPARE_COMMIT, markers_requested=True)
    transactions.save(NEW.transactional_id, ending)
    store.keep()
    found: list[object] = []
    for name in (NEW.transactional_id, "unknown"):
        transactions.read(name).then(found.append)
    assert found == [ending, None]
    assert list(transactions.load()) == [ending]


def test_a_row_is_as_before_unless_markers_are_requested(store: OpenStore) -> None:
    transactions = StoredTransactionRepository(store.state)
    transactions.save(OPEN.transactional_id, OPEN)
    store.keep()
    [(_, row)] = store.state.scan("transactions")
    assert len(json.loads(row)) == len(OPEN) - 1


def test_a_damaged_row_is_a_failure_of_the_store(store: OpenStore) -> None:
    store.state.put("transactions", b"key", b'{"partitions": {}}')
    store.keep()
    with pytest.raises(StorageFailed, match="transaction's row"):
        list(StoredTransactionRepository(store.state).load())
