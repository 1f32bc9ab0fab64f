"""TopicRepository over every engine."""

from __future__ import annotations

from domain.topics.topic import Topic
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
from tests.contract.engines import OpenStore
from tests.fakes.batches import record_batch


def topic(name: str, *partition_ids: int, configs: dict[str, str] | None = None) -> Topic:
    return Topic(name, name.encode().ljust(16, b"."), partition_ids, configs or {})


def described(topics: list[Topic]) -> list[tuple[str, bytes, tuple[int, ...], dict[str, str]]]:
    return [(t.name, t.topic_id, t.partition_ids, dict(t.configs)) for t in topics]


def test_a_saved_topic_is_loaded_unchanged(store: OpenStore) -> None:
    topics = StoredTopicRepository(store.log, store.state)
    saved = [topic("orders", 3, 4, configs={"retention.ms": "5"}), topic("payments", 9)]
    for one in saved:
        topics.save(one)
    assert topics.load() == []
    store.keep()

    assert described(topics.load()) == described(saved)


def test_saving_again_replaces_the_topic(store: OpenStore) -> None:
    topics = StoredTopicRepository(store.log, store.state)
    small = topic("orders", 1)
    topics.save(small)
    store.keep()
    grown = small.grown((2, 3)).configured({"cleanup.policy": "compact"})
    topics.save(grown)
    store.keep()

    assert described(topics.load()) == described([grown])


def test_a_deleted_topic_leaves_its_partitions_to_be_dropped(store: OpenStore) -> None:
    topics = StoredTopicRepository(store.log, store.state)
    orders = topic("orders", 300, 2)
    topics.save(orders)
    store.keep()

    topics.delete(orders)
    assert topics.doomed_partitions() == []
    store.keep()
    assert topics.load() == []
    assert topics.doomed_partitions() == [2, 300]

    topics.dropped(2)
    store.keep()
    assert topics.doomed_partitions() == [300]


def test_a_topic_can_be_recreated_in_the_pass_that_deletes_it(store: OpenStore) -> None:
    topics = StoredTopicRepository(store.log, store.state)
    topics.save(topic("orders", 1))
    store.keep()

    topics.delete(topic("orders", 1))
    topics.save(topic("orders", 2))
    store.keep()

    assert [t.partition_ids for t in topics.load()] == [(2,)]
    assert topics.doomed_partitions() == [1]


def test_partition_ids_are_never_assigned_twice(store: OpenStore) -> None:
    topics = StoredTopicRepository(store.log, store.state)

    assert topics.reserve_partition_ids(3) == (0, 1, 2)
    assert topics.reserve_partition_ids(2) == (3, 4)
    store.keep()

    assert StoredTopicRepository(store.log, store.state).reserve_partition_ids(1) == (5,)


def test_partition_ids_are_not_reused_before_a_commit_or_after_a_failed_one(
    store: OpenStore,
) -> None:
    topics = StoredTopicRepository(store.log, store.state)
    topics.reserve_partition_ids(3)  # never committed
    assert topics.reserve_partition_ids(1) == (3,)
    store.keep()

    assert StoredTopicRepository(store.log, store.state).reserve_partition_ids(1) == (4,)


def test_a_store_without_its_counter_assigns_no_partition_id_with_batches(
    store: OpenStore,
) -> None:
    for partition_id in (0, 6):
        store.log.append(partition_id, 0, record_batch(["of another topic"]))
    store.keep()

    topics = StoredTopicRepository(store.log, store.state)
    assert topics.reserve_partition_ids(2) == (7, 8)


def test_topics_and_counters_survive_a_restart(lasting_store: OpenStore) -> None:
    topics = StoredTopicRepository(lasting_store.log, lasting_store.state)
    topics.save(topic("orders", *topics.reserve_partition_ids(2)))
    lasting_store.keep()

    lasting_store.reopen()

    topics = StoredTopicRepository(lasting_store.log, lasting_store.state)
    assert [t.partition_ids for t in topics.load()] == [(0, 1)]
    assert topics.reserve_partition_ids(1) == (2,)


def test_partitions_without_a_topic_are_doomed_until_a_topic_has_them(store: OpenStore) -> None:
    topics = StoredTopicRepository(store.log, store.state)
    topics.doom(topics.reserve_partition_ids(2))
    store.keep()
    assert topics.doomed_partitions() == [0, 1]
    topics.save(topic("orders", 1))
    topics.dropped(1)
    store.keep()
    assert topics.doomed_partitions() == [0]


def test_ids_that_another_broker_has_reserved_are_not_assigned(store: OpenStore) -> None:
    topics, of_another = (StoredTopicRepository(store.log, store.state) for _ in range(2))
    topics.reserve_partition_ids(3)
    store.keep()
    assert of_another.reserve_partition_ids(2) == (3, 4)
    store.keep()
    assert topics.reserve_partition_ids(1) == (5,)
