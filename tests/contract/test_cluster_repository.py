"""ClusterRepository over every engine."""

from __future__ import annotations

import pytest

from application.ports.cluster_repository import WrittenTopic
from domain.topics.topic import WRITTEN_TOPICS
from infrastructure.storage.repositories.cluster_repository import StoredClusterRepository
from tests.contract.engines import OpenStore


def test_a_new_cluster_has_no_id_and_no_reserved_producer_ids(store: OpenStore) -> None:
    cluster = StoredClusterRepository(store.state)

    assert cluster.cluster_id() is None
    assert cluster.next_producer_id() == 0


def test_the_cluster_id_stays(lasting_store: OpenStore) -> None:
    cluster = StoredClusterRepository(lasting_store.state)
    cluster.name_cluster("x7pV1nXkTcGf0o5H0x2qzA")
    lasting_store.keep()
    lasting_store.reopen()

    cluster = StoredClusterRepository(lasting_store.state)
    assert cluster.cluster_id() == "x7pV1nXkTcGf0o5H0x2qzA"


def test_reserved_producer_ids_are_persisted_by_the_commit(store: OpenStore) -> None:
    cluster = StoredClusterRepository(store.state)
    cluster.reserve_producer_ids(1000)
    assert cluster.next_producer_id() == 0

    store.keep()
    assert cluster.next_producer_id() == 1000


@pytest.mark.parametrize("name", WRITTEN_TOPICS)
def test_an_internal_topic_is_a_row_until_it_is_removed(
    lasting_store: OpenStore, name: str
) -> None:
    cluster = StoredClusterRepository(lasting_store.state)
    assert cluster.internal_topic(name) is None
    for written in (WrittenTopic(b"\7" * 16, False), WrittenTopic(b"\7" * 16, True), None):
        cluster.save_internal_topic(name, written)
        lasting_store.keep()
        lasting_store.reopen()
        cluster = StoredClusterRepository(lasting_store.state)
        assert [cluster.internal_topic(one) for one in WRITTEN_TOPICS if one != name] == [None]
        assert cluster.internal_topic(name) == written
