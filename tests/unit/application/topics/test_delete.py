from __future__ import annotations

import pytest

from application.topics.delete import Deleted
from application.topics.partitions import MorePartitions
from domain.errors import (
    InvalidTopic,
    StorageFailed,
    TopicDeletionDisabled,
    UnknownTopicOrPartition,
)
from domain.topics.topic import NO_TOPIC_ID, Topic
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker


@pytest.fixture
def fake() -> FakeBroker:
    return FakeBroker()


def delete(fake: FakeBroker, *topics: Topic) -> list[Deleted]:
    """Filled when the results are there."""
    outcomes: list[Deleted] = []
    fake.broker.topics.delete_topics.delete(list(topics)).then(outcomes.extend)
    return outcomes


def test_with_deletion_disabled_no_topic_is_found() -> None:
    fake = FakeBroker(delete_topic_enable="false")
    topic = fake.topic("t")
    for named in (("t", NO_TOPIC_ID), (None, topic.topic_id)):
        found = fake.broker.topics.delete_topics.find(*named)
        assert isinstance(found, TopicDeletionDisabled)


def test_an_internal_topic_is_deleted_only_if_an_earlier_release_created_it(
    fake: FakeBroker,
) -> None:
    name = "__consumer_offsets"
    find = fake.broker.topics.delete_topics.find
    assert isinstance(find(name, NO_TOPIC_ID), InvalidTopic)
    created = Topic(name, b"\7" * 16, (77,), {})
    fake.broker.catalog.put(created)
    assert find(name, NO_TOPIC_ID) is created


def test_a_topic_that_the_broker_writes_is_not_deleted() -> None:
    fake = FakeBroker(offsets_topic="on")
    written = Topic("__consumer_offsets", b"\7" * 16, (77,), {})
    fake.broker.catalog.put(written)
    find = fake.broker.topics.delete_topics.find
    for named in ((written.name, NO_TOPIC_ID), (None, written.topic_id)):
        assert isinstance(find(*named), InvalidTopic)


def test_a_topic_is_deleted_with_the_commit(fake: FakeBroker) -> None:
    topic, other = fake.topic("t", 2), fake.topic("u")
    fake.commit.hold()
    outcomes = delete(fake, topic)
    fake.run()
    assert outcomes == []
    assert fake.broker.catalog.topic("t") is topic
    fake.commit.let_go()
    assert outcomes == [topic]
    assert fake.broker.catalog.names() == ["u"]
    assert fake.restarted().broker.catalog.names() == ["u"]
    assert fake.broker.catalog.topic("u") is other


def test_a_topic_that_is_being_deleted_is_not_deleted_again(fake: FakeBroker) -> None:
    topic, other = fake.topic("t"), fake.topic("u")
    first = delete(fake, topic)
    again = delete(fake, topic, other)
    fake.run()
    assert first == [topic]
    assert isinstance(again[0], UnknownTopicOrPartition)
    assert again[1] is other
    assert fake.broker.catalog.names() == []


@pytest.mark.parametrize("fails", [False, True])
def test_a_topic_that_gets_partitions_is_deleted_with_them(fake: FakeBroker, fails: bool) -> None:
    topic = fake.topic("t")
    if fails:  # both changes fail
        fake.commit.fail_next()
    fake.broker.topics.create_partitions.grow([MorePartitions("t", 3, None)], False)
    outcomes = delete(fake, topic)
    fake.run()
    [gone] = outcomes
    if fails:
        assert isinstance(gone, StorageFailed)
    else:
        assert isinstance(gone, Topic) and len(gone.partition_ids) == 3
    assert fake.restarted().broker.catalog.names() == (["t"] if fails else [])


def test_after_a_failed_commit_the_topic_still_exists(fake: FakeBroker) -> None:
    topic = fake.topic("t")
    fake.appended(record_batch(["a"]))
    fake.commit.fail_next()
    outcomes = delete(fake, topic)
    fake.run()
    assert isinstance(outcomes[0], StorageFailed)
    assert fake.broker.catalog.topic("t") is topic
    assert fake.appended(record_batch(["b"])).base_offset == 1
    assert delete(fake, topic) == []
    fake.run()
    assert fake.broker.catalog.topic("t") is None


def test_a_topic_that_is_created_again_is_empty(fake: FakeBroker) -> None:
    topic = fake.topic("t")
    fake.appended(record_batch(["a"]))
    delete(fake, topic)
    fake.run()
    again = fake.topic("t")
    assert again.topic_id != topic.topic_id
    assert again.partition_ids != topic.partition_ids
    assert fake.partition().end.next_offset == 0
    fake.scheduler.advance(1000)
    assert fake.appended(record_batch(["b"])).base_offset == 0
