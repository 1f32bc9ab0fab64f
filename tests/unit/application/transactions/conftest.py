from __future__ import annotations

import pytest

from tests.fakes.cluster_producer import ClusterProducer
from tests.fakes.shared_store import SharedStore
from tests.unit.application.transactions.three_brokers import SETTINGS


@pytest.fixture
def shared() -> SharedStore:
    """Each broker leads one partition of `t`. Broker 1 coordinates all transactions."""
    shared = SharedStore()
    for node_id in (1, 2, 3):
        shared.start(node_id, **SETTINGS)
    shared.topic("t", 3)
    return shared


@pytest.fixture
def producer(shared: SharedStore) -> ClusterProducer:
    producer = ClusterProducer(shared)
    assert producer.init() == 0
    assert {producer.leader(index).config.node_id for index in range(3)} == {1, 2, 3}
    return producer
