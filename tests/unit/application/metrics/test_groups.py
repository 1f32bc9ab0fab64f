from __future__ import annotations

from application.metrics.families.family import Value
from application.metrics.groups import GroupReadings
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.offsets import CommittedOffset
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker


def told(fake: FakeBroker) -> dict[tuple[str, ...], Value]:
    broker = fake.broker
    readings = GroupReadings(broker.groups.registry, broker.groups.offsets, broker.catalog).read()
    return {
        (family.name, *labels): value for family, samples in readings for labels, value in samples
    }


def commit(fake: FakeBroker, group_id: str, topic: str, partition: int, offset: int) -> None:
    topic_id = fake.existing(topic).topic_id
    committed = CommittedOffset(offset, 0, "", fake.clock.now_ms(), None, topic_id)
    heard: list[object] = []
    fake.broker.groups.offsets.persist(
        group_id, [(group_id, topic, partition, committed)], heard.append
    )
    fake.run()
    assert heard == [None]


def test_the_lag_of_a_group_is_what_is_durable_and_not_committed() -> None:
    fake = FakeBroker()
    fake.topic("t", 2)
    for _ in range(5):
        fake.appended(record_batch(["a", "b"]), "t", 0)
    fake.appended(record_batch(["a"]), "t", 1)
    commit(fake, "g", "t", 0, 4)
    commit(fake, "g", "t", 1, 7)  # beyond the end: nothing is left to read
    figures = told(fake)
    assert figures["kafka_consumergroup_lag", "g", "t", "0"] == 6
    assert figures["kafka_consumergroup_lag", "g", "t", "1"] == 0
    assert figures["kafka_consumergroup_lag_sum", "g", "t"] == 6
    assert figures["kafka_consumergroup_current_offset_sum", "g", "t"] == 11
    assert figures["kminion_kafka_consumer_group_topic_lag", "g", "t"] == 6


def test_of_a_partition_that_is_not_there_the_lag_is_not_known() -> None:
    fake = FakeBroker()
    fake.topic("t")
    commit(fake, "g", "t", 9, 4)
    figures = told(fake)
    assert figures["kafka_consumergroup_lag", "g", "t", "9"] == -1
    assert figures["kafka_consumergroup_lag_sum", "g", "t"] == 0


def test_groups_are_counted_by_kind_and_state() -> None:
    fake = FakeBroker()
    for group_id in ("one", "two"):
        fake.broker.groups.registry.put(ClassicGroup(group_id))
    fake.broker.groups.registry.put(ConsumerGroup("three"))
    figures = told(fake)
    assert figures["ottla_groups", "classic", "Empty"] == 2
    assert figures["ottla_groups", "consumer", "Empty"] == 1
    assert figures["kafka_consumergroup_members", "one"] == 0
    assert figures["ottla_waiting_joins",] == 0
