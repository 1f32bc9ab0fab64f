"""A broker is unregistered if it has no session; otherwise the commit fails."""

from __future__ import annotations

import pytest

from domain.cluster.nodes import BrokerState
from domain.errors import StorageFailed
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers


@pytest.fixture
def cluster(patient: JoinedBrokers) -> JoinedBrokers:
    return patient


@pytest.fixture
def broker(cluster: JoinedBrokers) -> JoinedBroker:
    broker = cluster.join(1)
    broker.announce()
    broker.run_until(lambda: broker.brokers() == [(1, False)])
    return broker


def unregister(broker: JoinedBroker, *node_ids: int) -> StorageFailed | None:
    membership, changes = broker.storage.membership, broker.storage.cluster_changes
    assert membership is not None and changes is not None
    broker.patiently(changes.check)
    for node_id in node_ids:
        membership.unregister(node_id)
    return broker.commit()


def stop(cluster: JoinedBrokers, node_id: int) -> None:
    """It was announced."""
    other = cluster.join(node_id)
    other.announce()
    other.run_until(lambda: (node_id, False) in other.brokers())
    other.close()


def rows(cluster: JoinedBrokers, node_id: int) -> list[object]:
    tables = "ottla_brokers", "ottla_fences"
    counts = (f"select count(*) from {table} where node_id = {node_id}" for table in tables)
    return [count for (count,) in cluster.execute(" union all ".join(counts))]


@pytest.mark.parametrize("clock", ["-", "+"])
def test_a_stopped_broker_is_unregistered_whatever_the_clock_is(
    cluster: JoinedBrokers, broker: JoinedBroker, clock: str
) -> None:
    for node_id in (2, 3):
        stop(cluster, node_id)
    cluster.execute(f"update ottla_brokers set until = until {clock} interval '1 hour'")
    assert unregister(broker, 2, 2) is None
    assert rows(cluster, 2) == [0, 0]
    assert rows(cluster, 3) == [1, 1]
    assert unregister(broker, 2, 3) is None
    assert rows(cluster, 3) == [0, 0]
    # Before the next look at the rows: another request may follow at once.
    assert broker.brokers() == [(1, False)]


@pytest.mark.parametrize("clock", ["-", "+"])
def test_a_broker_that_starts_is_not_unregistered(
    cluster: JoinedBrokers, broker: JoinedBroker, clock: str
) -> None:
    stop(cluster, 2)
    starting = cluster.join(2)
    cluster.execute(
        f"update ottla_brokers set until = until {clock} interval '1 hour' where node_id = 2"
    )
    assert isinstance(unregister(broker, 2), StorageFailed)
    assert [node_id for node_id, _ in broker.brokers()] == [1, 2]
    assert rows(cluster, 2) == [1, 1]
    membership = broker.storage.membership
    assert membership is not None
    states = [BrokerState.ALIVE, BrokerState.STARTING]
    broker.run_until(lambda: [one.state for one in membership.brokers()] == states)
    starting.append(7, 0)
    assert starting.commit() is None
