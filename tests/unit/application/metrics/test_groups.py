from __future__ import annotations

from application.metrics.groups import GroupReadings
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.group import ConsumerGroup
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.groups import persist_offsets
from tests.unit.application.metrics.figures import Figures, by_labels


def figures_of(fake: FakeBroker) -> Figures:
    groups = fake.broker.groups
    return by_labels(GroupReadings(groups.registry, groups.offsets, fake.broker.catalog).read())


def test_lag_is_the_log_end_offset_minus_the_committed_offset() -> None:
    fake = with_topic(2)
    for _ in range(5):
        fake.appended(record_batch(["a", "b"]), "t", 0)
    fake.appended(record_batch(["a"]), "t", 1)
    for index, offset in ((0, 4), (1, 7), (9, 4)):
        persist_offsets(fake, "g", "t", index, offset=offset)
    fake.run()
    figures = figures_of(fake)
    lags = [figures["kafka_consumergroup_lag", "g", "t", index] for index in ("0", "1", "9")]
    assert lags == [6, 0, -1], "beyond the end there is no lag; of an unknown partition it is -1"
    assert figures["kafka_consumergroup_lag_sum", "g", "t"] == 6
    assert figures["kafka_consumergroup_current_offset_sum", "g", "t"] == 15
    assert figures["kminion_kafka_consumer_group_topic_lag", "g", "t"] == 6


def test_groups_are_counted_by_kind_and_state() -> None:
    fake = FakeBroker()
    for group_id in ("one", "two"):
        fake.broker.groups.registry.put(ClassicGroup(group_id))
    fake.broker.groups.registry.put(ConsumerGroup("three"))
    figures = figures_of(fake)
    assert figures["ottla_groups", "classic", "Empty"] == 2
    assert figures["ottla_groups", "consumer", "Empty"] == 1
    assert figures["kafka_consumergroup_members", "one"] == 0
    assert figures["ottla_waiting_joins",] == 0
