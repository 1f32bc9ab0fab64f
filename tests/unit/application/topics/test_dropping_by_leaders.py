"""Deleted topics, where several brokers share a store."""

from __future__ import annotations

import pytest

from tests.fakes.batches import record_batch
from tests.fakes.shared_store import SharedStore


@pytest.fixture
def shared() -> SharedStore:
    shared = SharedStore()
    for node_id in (1, 2, 3):
        shared.start(node_id)
    shared.topic("t", 6)
    for index in range(6):
        shared.brokers[index % 3 + 1].appended(record_batch(["a"]), index=index)
    return shared


def delete(shared: SharedStore, on: int) -> None:
    broker = shared.brokers[on]
    broker.broker.topics.delete_topics.delete([broker.existing()])
    shared.run()


def left(shared: SharedStore) -> tuple[list[int], list[bytes], list[bytes]]:
    """Partitions with data, with registrations, and that are doomed."""
    tables = shared.data.tables
    doomed, leaders = tables.get("doomed", {}), tables.get("leaders", {})
    return sorted(shared.data.partitions), sorted(leaders), sorted(doomed)


def test_each_leader_drops_its_partitions_and_their_registrations(shared: SharedStore) -> None:
    delete(shared, on=2)
    assert left(shared) == ([], [], [])
    for broker in shared.brokers.values():
        assert broker.core.registrations is not None
        assert broker.core.registrations.items() == []


def test_the_data_of_a_fenced_broker_is_dropped_by_who_takes_it_over(shared: SharedStore) -> None:
    shared.kill(3)
    delete(shared, on=1)
    assert left(shared)[0] == [2, 5]
    shared.fence(3)
    shared.run()
    assert left(shared) == ([], [], [])


def test_the_controller_drops_what_has_no_registration(shared: SharedStore) -> None:
    """An import that was cut has left it."""
    two = shared.brokers[2]
    two.core.topics.doom([77])
    two.core.commits.when_committed(lambda failure: None)
    shared.run()
    two.broker.dropping.start()
    shared.run()
    assert left(shared)[2] != []
    shared.brokers[1].broker.dropping.start()
    shared.run()
    assert left(shared)[2] == []
