"""Requested markers: any broker adds rows, the leader of their partition removes them, all know."""

from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.repositories.scopes import MARKERS
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers

PARTITION = 7


@pytest.fixture
def cluster(patient: JoinedBrokers) -> JoinedBrokers:
    return patient


def key(number: int, partition_id: int = PARTITION) -> bytes:
    return partition_id.to_bytes(4, "big") + b"%016d" % number


def change(broker: JoinedBroker, *keys: bytes, value: bytes | None = b"row") -> None:
    for one in keys:
        broker.storage.state.put(MARKERS, one, value)


def added(broker: JoinedBroker, *keys: bytes) -> None:
    change(broker, *keys)
    assert broker.commit() is None


def known(broker: JoinedBroker) -> list[bytes]:
    return [one for one, _ in broker.storage.state.scan(MARKERS)]


def test_all_brokers_learn_what_one_adds_and_another_removes(cluster: JoinedBrokers) -> None:
    first, second, third = (cluster.join(node_id) for node_id in (1, 2, 3))
    second.lead(PARTITION, 2)
    assert second.commit() is None
    added(first, key(1), key(2))
    assert known(first) == [key(1), key(2)]
    second.run_until(lambda: known(second) == [key(1), key(2)])
    third.run_until(lambda: known(third) == [key(1), key(2)])
    second.append(PARTITION, 0)
    change(second, key(1), value=None)
    assert second.commit() is None
    assert known(second) == [key(2)]
    for broker in (first, third):
        broker.run_until(lambda broker=broker: known(broker) == [key(2)])
    later = cluster.join(4)
    assert known(later) == [key(2)]
    assert cluster.execute("select version from ottla_store") == [(1,)], "no right was needed"


def test_followers_are_called_with_what_others_have_changed(cluster: JoinedBrokers) -> None:
    first, second = cluster.join(1), cluster.join(2)
    heard: list[object] = []
    second.storage.state.follow(MARKERS, heard.append)
    added(first, key(1))
    second.run_until(lambda: heard)
    change(first, key(1), value=None)
    assert first.commit() is None
    second.run_until(lambda: len(heard) == 2)
    assert heard == [[key(1)], [key(1)]]


def test_a_marker_that_is_written_already_is_not_written_again(cluster: JoinedBrokers) -> None:
    """Nothing of the commit is persisted, whatever this broker knew."""
    first, second = cluster.join(1), cluster.join(2)
    first.lead(PARTITION, 1)
    assert first.commit() is None
    added(second, key(1), key(2))
    first.run_until(lambda: known(first) == [key(1), key(2)])
    cluster.execute(f"delete from ottla_rows where place = '\\x{key(1).hex()}'")
    first.append(PARTITION, 0)
    change(first, key(1), key(2), value=None)
    failure = first.commit()
    assert isinstance(failure, StorageFailed) and "has changed the same" in str(failure)
    assert first.last_offsets(PARTITION) == []
    first.run_until(lambda: known(first) == [key(2)])
    first.append(PARTITION, 0)
    change(first, key(2), value=None)
    assert first.commit() is None
    assert cluster.execute(f"select from ottla_rows where \"table\" = '{MARKERS}'") == []


def test_the_next_leader_knows_what_the_one_before_has_removed(cluster: JoinedBrokers) -> None:
    """When it learns that it leads, not later."""
    first, second = cluster.join(1), cluster.join(2)
    first.lead(PARTITION, 1)
    assert first.commit() is None
    added(second, key(1), key(2), key(3, 8))
    first.run_until(lambda: len(known(first)) == 3)
    leads: list[list[bytes]] = []
    second.storage.state.follow("leaders", lambda _: leads.append(known(second)))
    change(first, key(1), value=None)
    first.lead(PARTITION, 2, epoch=2)
    assert first.commit() is None
    second.run_until(lambda: leads)
    assert leads[-1] == [key(2), key(3, 8)]


def test_a_broker_that_takes_over_knows_what_the_fenced_one_has_removed(
    cluster: JoinedBrokers,
) -> None:
    first, second = cluster.join(1), cluster.join(2)
    first.lead(PARTITION, 1)
    assert first.commit() is None
    added(second, key(1), key(2))
    first.run_until(lambda: len(known(first)) == 2)
    change(first, key(1), value=None)
    assert first.commit() is None
    first.close()
    second.lead(PARTITION, 2, epoch=2)
    assert second.commit() is None
    assert known(second) == [key(2)]


def test_a_broker_whose_connections_were_cut_learns_all(cluster: JoinedBrokers) -> None:
    first, second = cluster.join(1), cluster.join(2, through_relay=True)
    cluster.relay.cut()
    added(first, key(1))
    second.run_until(lambda: known(second) == [key(1)])
    cluster.relay.refuse()
    cluster.relay.cut()
    change(first, key(1), value=None)
    assert first.commit() is None
    cluster.relay.accept()
    second.run_until(lambda: known(second) == [])


# ---- rows of other scopes


def fetched(broker: JoinedBroker, row: bytes) -> object:
    assert broker.storage.fetch_row is not None
    found: list[object] = []
    broker.storage.fetch_row("transactions", row).then(found.append)
    broker.run_until(lambda: found)
    return found[0]


def test_a_broker_reads_a_row_that_only_another_one_has(cluster: JoinedBrokers) -> None:
    first, second = cluster.join(1), cluster.join(2, through_relay=True)
    first.storage.state.put("transactions", b"digest", b'["tx"]')
    assert first.commit() is None
    assert second.storage.state.get("transactions", b"digest") is None
    assert fetched(second, b"digest") == b'["tx"]'
    assert fetched(second, b"none") is None
    cluster.relay.cut()
    assert fetched(second, b"digest") == b'["tx"]'
    cluster.relay.refuse()
    cluster.relay.cut()
    assert isinstance(fetched(second, b"digest"), StorageFailed)
    cluster.relay.accept()
    assert fetched(second, b"digest") == b'["tx"]'
