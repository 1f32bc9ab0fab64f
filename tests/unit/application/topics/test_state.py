"""Topics that another broker has created, altered or deleted."""

from __future__ import annotations

import pytest

from application.configs.alter import RequestedConfigs
from application.ports.log_store import NotInMemory
from application.topics.create import NewTopic
from application.topics.partitions import MorePartitions
from domain.cluster.nodes import Leader
from domain.configs.alteration import Alteration, Operation
from domain.configs.resource import Resource, ResourceKind
from domain.errors import MessageTooLarge, TopicAlreadyExists
from domain.topics.topic import Topic
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.following_brokers import FollowingBrokers
from tests.fakes.groups import persist_offsets, stored_offsets


@pytest.fixture
def two() -> FollowingBrokers:
    return FollowingBrokers()


def created(two: FollowingBrokers, name: str = "t", partitions: int = 2) -> Topic:
    """By the first."""
    topic = two.first.topic(name, partitions)
    two.run()
    return topic


def delete(fake: FakeBroker, topic: Topic) -> None:
    fake.broker.topics.delete_topics.delete([topic])


def test_a_new_topic_is_known_without_an_event_here(two: FollowingBrokers) -> None:
    topic = two.first.topic("t", 2)
    assert two.second.broker.catalog.topic("t") is None
    revision = two.second.broker.catalog.revision
    two.run()
    known = two.second.existing()
    assert (known.topic_id, known.partition_ids) == (topic.topic_id, topic.partition_ids)
    assert two.second.broker.catalog.topic_by_id(topic.topic_id) is known
    assert two.second.broker.catalog.revision > revision
    assert two.second.events.of("topic_created") == []
    assert len(two.first.events.of("topic_created")) == 1


def test_partition_ids_of_two_brokers_differ(two: FollowingBrokers) -> None:
    ids: list[int] = []
    for number, fake in enumerate((two.first, two.second, two.second, two.first)):
        ids += fake.topic(f"t{number}", 2).partition_ids
        two.run()
    assert sorted(ids) == list(range(8))


def test_an_id_of_a_failed_commit_is_not_used_again(two: FollowingBrokers) -> None:
    two.second.commit.fail_next()
    create = two.second.broker.topics.create_topics
    create.create_automatically(["lost"], partition_count=3)
    two.run()
    assert created(two).partition_ids == (0, 1)
    assert two.second.topic("u").partition_ids == (3,)


def test_partitions_are_added(two: FollowingBrokers) -> None:
    created(two)
    two.first.broker.topics.create_partitions.grow([MorePartitions("t", 3, None)], False)
    two.run()
    assert len(two.second.existing().partition_ids) == 3


def test_configs_apply_to_loaded_partitions(two: FollowingBrokers) -> None:
    topic = created(two, partitions=1)
    two.move(topic.partition_ids[0], Leader(2, 1))
    partition = two.second.partition()
    alteration = Alteration("max.message.bytes", Operation.SET, "50")
    requested = RequestedConfigs(Resource(ResourceKind.TOPIC, "t"), [alteration])
    two.first.broker.configs.alter_configs.alter([requested], False)
    two.run()
    assert isinstance(two.second.append(record_batch(["x" * 100])), MessageTooLarge)
    assert two.second.partition() is partition
    assert two.second.events.of("configs_altered") == []


def test_a_deleted_topic_and_its_offsets_are_forgotten(two: FollowingBrokers) -> None:
    two.coordinate_on(2)
    topic = created(two, partitions=1)
    two.move(topic.partition_ids[0], Leader(2, 1))
    partition = two.second.partition()
    for group_id in ("g", "h"):
        persist_offsets(two.second, group_id, "t", 0)
    two.run()
    assert two.second.broker.groups.offsets.has("g", "t", 0)
    delete(two.first, topic)
    two.run()
    second = two.second.broker
    assert second.catalog.topic("t") is None and not second.catalog.holds(partition)
    assert not second.groups.offsets.has("g", "t", 0)
    assert two.second.events.of("topic_deleted") == []
    two.advance(100)
    assert stored_offsets(two.second) == 0


def test_a_topic_that_was_deleted_and_created_again_is_another_one(two: FollowingBrokers) -> None:
    two.coordinate_on(2)
    before = created(two)
    persist_offsets(two.second, "g", "t", 0)
    two.run()
    assert two.second.broker.groups.offsets.has("g", "t", 0)
    delete(two.first, before)
    two.first.run()
    after = two.first.topic("t", 1)
    two.run()
    catalog = two.second.broker.catalog
    assert catalog.topic_by_id(before.topic_id) is None
    assert two.second.existing().topic_id == after.topic_id
    assert len(catalog) == 2
    assert not two.second.broker.groups.offsets.has("g", "t", 0)


def test_a_topic_that_was_created_and_deleted_meanwhile_is_dropped_by_its_leader(
    two: FollowingBrokers,
) -> None:
    topic = two.first.topic("t", 1)
    two.first.appended(record_batch(["a"]))
    for broker in (two.first, two.second):
        broker.placement.move(topic.partition_ids[0], Leader(2, 1))
    delete(two.first, topic)
    two.run()
    two.advance(100)
    assert two.store.partitions == {} and two.store.tables["doomed"] == {}


def test_a_change_that_waited_for_the_right_is_decided_on_what_was_committed_before(
    two: FollowingBrokers,
) -> None:
    create = two.second.broker.topics.create_topics.create
    two.second.changes.withhold()
    with pytest.raises(NotInMemory):
        create([NewTopic("t", 1)], False)
    created(two)
    two.second.changes.give()
    assert two.second.commit.count == 0
    [refused] = create([NewTopic("t", 1)], False)
    assert isinstance(refused, TopicAlreadyExists)
