from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from domain.topics.topic import Topic
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker


@pytest.fixture
def fake() -> FakeBroker:
    return FakeBroker()


def test_topics_are_there_again_after_a_restart(fake: FakeBroker) -> None:
    made = [fake.topic("b", 2, retention_ms="5"), fake.topic("a", 1)]
    catalog = fake.restarted().broker.catalog
    assert (len(catalog), catalog.names(), catalog.partition_count()) == (2, ["a", "b"], 3)
    for topic in made:
        again = catalog.topic(topic.name)
        assert again is not None
        assert catalog.topic_by_id(topic.topic_id) is again
        assert (again.topic_id, again.partition_ids, again.configs) == (
            topic.topic_id, topic.partition_ids, topic.configs
        )  # fmt: skip


def test_partitions_are_loaded_when_they_are_first_touched(fake: FakeBroker) -> None:
    fake.topic("t", 3)
    fake.appended(record_batch(["a", "b"]), index=1)
    again = fake.restarted()
    assert again.broker.catalog.loaded() == []
    partition = again.partition(index=1)
    assert again.partition(index=1) is partition
    assert again.broker.catalog.loaded() == [partition]
    assert (partition.topic, partition.index, partition.high_watermark) == ("t", 1, 2)


def test_there_is_no_partition_beyond_the_last_or_below_the_first(fake: FakeBroker) -> None:
    topic = fake.topic("t", 2)
    for index in (-1, 2, 2**31 - 1, -(2**31)):
        assert fake.broker.catalog.partition(topic, index) is None


def test_a_partition_that_cannot_be_read_is_tried_again(fake: FakeBroker) -> None:
    fake.topic("t")
    fake.appended(record_batch(["a"]))
    again = fake.restarted()
    again.log.failing = StorageFailed("cannot read")
    for _ in range(2):
        with pytest.raises(StorageFailed):
            again.partition()
    again.log.failing = None
    assert again.partition().end.next_offset == 1


def test_the_revision_rises_with_every_change(fake: FakeBroker) -> None:
    catalog = fake.broker.catalog
    topic = Topic("t", b"\1" * 16, (0,), {})
    revisions = [catalog.revision]
    for change in (
        lambda: catalog.put(topic),
        lambda: catalog.put(topic.grown((1,))),
        lambda: catalog.remove(topic.grown((1,))),
    ):
        change()
        revisions.append(catalog.revision)
    assert revisions == sorted(set(revisions))
    assert len(catalog) == 0


def test_a_topic_has_the_configs_it_was_given_and_the_brokers_for_the_rest() -> None:
    fake = FakeBroker(message_max_bytes="5000")
    config = fake.broker.catalog.config(fake.topic("t", cleanup_policy="compact"))
    assert (config.compacted, config.max_message_bytes) == (True, 5000)


def test_partitions_of_a_removed_topic_are_not_loaded_any_more(fake: FakeBroker) -> None:
    topic = fake.topic("t", 3)
    fake.partition(index=2)
    fake.broker.catalog.remove(topic)
    assert fake.broker.catalog.loaded() == []


def test_topics_with_colliding_names_can_be_removed_one_after_the_other(fake: FakeBroker) -> None:
    """One request may bring both to be: the names are held against what is there before it."""
    catalog = fake.broker.catalog
    first, second = (Topic(name, name.encode() * 4, (0,), {}) for name in ("a.bc", "a_bc"))
    catalog.put(first)
    catalog.put(second)
    catalog.remove(first)
    assert catalog.colliding("a.bc") == "a_bc"
    catalog.remove(second)
    assert catalog.colliding("a.bc") is None


def test_the_layout_revision_rises_when_a_topic_comes_goes_or_grows(fake: FakeBroker) -> None:
    catalog = fake.broker.catalog
    revisions = [catalog.layout_revision]
    one = Topic("t", b"\1" * 16, (0,), {})
    for change in (
        lambda: catalog.put(one),
        lambda: catalog.put(Topic("t", one.topic_id, (0, 2), {})),
        lambda: catalog.remove(one),
    ):
        change()
        revisions.append(catalog.layout_revision)
    assert revisions == sorted(set(revisions))
    catalog.put(one)
    before = catalog.layout_revision
    catalog.put(Topic("t", one.topic_id, (0,), {"retention.ms": "5"}))
    catalog.reconfigured()
    assert catalog.layout_revision == before < catalog.revision
