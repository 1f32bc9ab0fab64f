from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from domain.topics.topic import Topic
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker


@pytest.fixture
def fake() -> FakeBroker:
    return FakeBroker()


def test_a_restart_loads_all_topics(fake: FakeBroker) -> None:
    created = [fake.topic("b", 2, retention_ms="5"), fake.topic("a", 1)]
    catalog = fake.restarted().broker.catalog
    assert (len(catalog), catalog.names(), catalog.partition_count()) == (2, ["a", "b"], 3)
    for topic in created:
        again = catalog.topic(topic.name)
        assert again is not None
        assert catalog.topic_by_id(topic.topic_id) is again
        assert (again.topic_id, again.partition_ids, again.configs) == (
            topic.topic_id, topic.partition_ids, topic.configs
        )  # fmt: skip


def test_partitions_are_loaded_at_first_use(fake: FakeBroker) -> None:
    fake.topic("t", 3)
    fake.appended(record_batch(["a", "b"]), index=1)
    again = fake.restarted()
    assert again.broker.catalog.loaded() == []
    partition = again.partition(index=1)
    assert again.partition(index=1) is partition
    assert again.broker.catalog.loaded() == [partition]
    assert (partition.topic, partition.index, partition.high_watermark) == ("t", 1, 2)
    again.broker.catalog.remove(again.existing())
    assert again.broker.catalog.loaded() == []


def test_other_partition_indexes_do_not_exist(fake: FakeBroker) -> None:
    topic = fake.topic("t", 2)
    for index in (-1, 2, 2**31 - 1, -(2**31)):
        assert fake.broker.catalog.partition(topic, index) is None


def test_an_unreadable_partition_is_loaded_again(fake: FakeBroker) -> None:
    fake.topic("t")
    fake.appended(record_batch(["a"]))
    again = fake.restarted()
    again.log.failing = StorageFailed("cannot read")
    for _ in range(2):
        with pytest.raises(StorageFailed):
            again.partition()
    again.log.failing = None
    assert again.partition().end.next_offset == 1


def test_revisions_rise_with_every_change(fake: FakeBroker) -> None:
    catalog = fake.broker.catalog
    topic = Topic("t", b"\1" * 16, (0,), {})
    revisions = [(catalog.revision, catalog.layout_revision)]
    for change in (
        lambda: catalog.put(topic),
        lambda: catalog.put(topic.grown((1,))),
        lambda: catalog.remove(topic.grown((1,))),
        lambda: catalog.put(topic),
    ):
        change()
        revisions.append((catalog.revision, catalog.layout_revision))
    for column in zip(*revisions, strict=True):
        assert [*column] == sorted(set(column))
    before = catalog.layout_revision
    catalog.put(topic.configured({"retention.ms": "5"}))
    catalog.reconfigured()
    assert catalog.layout_revision == before < catalog.revision


def test_a_topic_has_its_configs_and_the_defaults_of_the_broker() -> None:
    fake = FakeBroker(message_max_bytes="5000")
    config = fake.broker.catalog.config(fake.topic("t", cleanup_policy="compact"))
    assert (config.compacted, config.max_message_bytes) == (True, 5000)


def test_topics_with_colliding_names_can_be_removed_one_by_one(fake: FakeBroker) -> None:
    """One request can create both: names are compared with existing topics only."""
    catalog = fake.broker.catalog
    first, second = (Topic(name, name.encode() * 4, (0,), {}) for name in ("a.bc", "a_bc"))
    catalog.put(first)
    catalog.put(second)
    catalog.remove(first)
    assert catalog.colliding("a.bc") == "a_bc"
    catalog.remove(second)
    assert catalog.colliding("a.bc") is None
