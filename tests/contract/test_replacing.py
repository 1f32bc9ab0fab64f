"""LogStore: compaction replaces batches."""

from __future__ import annotations

from tests.contract.batches import batch
from tests.contract.engines import OpenStore
from tests.contract.test_log_store import ALL, append_three


def test_replaced_batches_are_invisible_until_the_commit(store: OpenStore) -> None:
    for partition_id in (6, 7, 8):
        a, b, c = append_three(store, partition_id)
    smaller = batch(14, b"B", first_offset=10, size_bytes=150)

    assert store.log.replace(7, 0, 14, [smaller], []) == 150 - len(a) - len(b)
    assert store.everything(7) == a + b + c
    store.keep()

    assert store.everything(7) == smaller + c
    assert store.everything(6) == store.everything(8) == a + b + c


def test_replaced_batches_survive_a_restart(lasting_store: OpenStore) -> None:
    store = lasting_store
    _, _, c = append_three(store)
    store.log.replace(7, 0, 14, [], [])
    store.keep()
    store.log.replace(7, 30, 39, [], [])

    store.reopen()

    assert store.everything(7) == c


def test_a_batch_may_end_before_the_one_that_it_replaces(store: OpenStore) -> None:
    a, _, c = append_three(store)
    shorter = batch(11, b"B", first_offset=10)
    store.log.replace(7, 10, 14, [shorter], [])
    store.keep()

    assert store.log.read(7, 10, ALL, 1, True) == shorter
    assert store.log.read(7, 12, ALL, 1, True) == c
    assert store.log.read(7, 0, 12, ALL, False) == a + shorter


def test_batches_are_replaced_in_the_pass_of_an_append(store: OpenStore) -> None:
    _, _, c = append_three(store)
    store.log.replace(7, 0, 14, [], [])
    d = batch(49, b"d")
    store.log.append(7, 49, d)
    store.keep()

    assert store.everything(7) == c + d


def test_the_timestamp_index_of_the_offsets_is_replaced(store: OpenStore) -> None:
    for offset in range(5):
        store.log.append(7, offset, batch(offset), 1000 + 10 * offset)
    store.log.append(6, 9, batch(9), 1)
    store.log.append(8, 9, batch(9), 5000)
    store.keep()

    store.log.replace(7, 1, 3, [batch(3)], [(1025, 3)])
    store.keep()

    timestamps = (1000, 1001, 1025, 1026, 1040, 1041)
    assert [store.log.at_timestamp(7, t) for t in timestamps] == [0, 1, 1, 4, 4, 5]
    assert [store.log.at_timestamp(i, ALL) for i in (6, 8)] == [10, 10]


def test_the_timestamp_index_stays_in_order(store: OpenStore) -> None:
    """The largest timestamp up to a batch may have been that of a record that is removed."""
    for offset in range(4):
        store.log.append(7, offset, batch(offset), 1000 + 10 * offset)
    store.keep()

    store.log.replace(7, 1, 2, [batch(2)], [(-1, 1), (5, 2)])
    store.keep()
    assert [store.log.at_timestamp(7, t) for t in (1000, 1001, 1031)] == [0, 3, 4]

    while not store.log.copy_before(7, 1):
        store.keep()
    store.log.replace(7, 1, 2, [batch(2)], [(1030, 2)])
    store.keep()
    assert store.log.at_timestamp(7, 1030) in (0, 1)
    assert store.log.at_timestamp(7, 1031) == 4


def test_unstamped_batches_come_first_in_the_timestamp_index(store: OpenStore) -> None:
    append_three(store)
    store.log.replace(7, 0, 14, [batch(14)], [(-1, 14)])
    store.keep()

    assert [store.log.at_timestamp(7, t) for t in (0, 1)] == [0, 15]
