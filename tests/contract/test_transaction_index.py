"""TransactionIndex over every engine."""

from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from domain.partitions.transactions import AbortedTransaction
from infrastructure.storage.repositories.transaction_index import StoredTransactionIndex
from tests.contract.engines import OpenStore

PARTITION_ID = 7


def filled(store: OpenStore) -> StoredTransactionIndex:
    index = StoredTransactionIndex(store.state)
    for partition_id in (PARTITION_ID - 1, PARTITION_ID, PARTITION_ID + 1):
        # 1 aborts within 0 and 30; 2 and 3 while it is open.
        index.add(partition_id, AbortedTransaction(2, 5, 10, 0))
        index.add(partition_id, AbortedTransaction(3, 12, 20, 0))
        index.add(partition_id, AbortedTransaction(1, 0, 30, 31))
        index.add(partition_id, AbortedTransaction(2, 31, 40, 41))
    return index


@pytest.mark.parametrize(
    ("offset", "end_offset", "producers"),
    [
        (0, 5, [1]),
        (0, 6, [2, 1]),
        (10, 13, [2, 3, 1]),
        (11, 12, [1]),
        (20, 31, [3, 1]),
        (30, 32, [1, 2]),
        (31, 60, [2]),
        (41, 60, []),
    ],
)
def test_a_range_of_offsets_has_the_aborted_transactions_that_overlap_it(
    store: OpenStore, offset: int, end_offset: int, producers: list[int]
) -> None:
    index = filled(store)
    assert index.overlapping(PARTITION_ID, 0, 100) == []
    store.keep()
    found = index.overlapping(PARTITION_ID, offset, end_offset)
    assert [one.producer_id for one in found] == producers


def test_an_entry_is_read_as_it_was_added(lasting_store: OpenStore) -> None:
    entries = [AbortedTransaction(2**62, at, 2**61 + at, at) for at in range(600)]
    index = StoredTransactionIndex(lasting_store.state)
    for entry in entries:
        index.add(PARTITION_ID, entry)
    lasting_store.keep()
    lasting_store.reopen()
    index = StoredTransactionIndex(lasting_store.state)
    assert index.overlapping(PARTITION_ID, 0, 2**62) == entries


def last_offsets(index: StoredTransactionIndex, partition_id: int = PARTITION_ID) -> list[int]:
    return [one.last_offset for one in index.overlapping(partition_id, 0, 2**62)]


def test_markers_below_an_offset_are_found_oldest_first(store: OpenStore) -> None:
    index = filled(store)
    store.keep()
    assert index.below(PARTITION_ID, 40, 2) == [10, 20]
    assert index.below(PARTITION_ID, 40, 9) == [10, 20, 30]
    assert index.below(PARTITION_ID, 41, 9) == [10, 20, 30, 40]


def test_a_deleted_partition_is_dropped_in_slices(store: OpenStore) -> None:
    index = filled(store)
    store.keep()
    done, left = [], []
    for _ in range(2):
        done.append(index.drop(PARTITION_ID, 3))
        store.keep()
        left.append(last_offsets(index))
    assert (done, left) == ([False, True], [[40], []])
    for other in (PARTITION_ID - 1, PARTITION_ID + 1):
        assert last_offsets(index, other) != []


def test_one_entry_is_removed(store: OpenStore) -> None:
    index = filled(store)
    store.keep()
    index.remove(PARTITION_ID, 20)
    store.keep()
    assert last_offsets(index) == [10, 30, 40]


def test_a_damaged_entry_is_a_failure_of_the_store(store: OpenStore) -> None:
    index = filled(store)
    store.keep()
    key = store.state.scan("aborted")[4][0]
    store.state.put("aborted", key, b"\0")
    store.keep()
    with pytest.raises(StorageFailed, match="transaction index of partition 7"):
        index.overlapping(PARTITION_ID, 0, 100)
