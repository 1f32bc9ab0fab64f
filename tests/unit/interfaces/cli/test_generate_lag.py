"""The expression for the lag of groups, evaluated by hand over what three brokers export."""

from __future__ import annotations

from collections.abc import Iterable

from application.metrics.groups import GroupReadings
from application.metrics.topics import TopicReadings
from interfaces.cli.generate_lag import group_lag
from tests.fakes.batches import record_batch
from tests.fakes.offset_requests import at, commit
from tests.fakes.shared_store import SharedBroker, SharedStore
from tests.unit.application.metrics.figures import Figures, by_labels

ENDS, COMMITTED = "kafka_topic_partition_current_offset", "kafka_consumergroup_current_offset"


def exported(fake: SharedBroker) -> Figures:
    broker = fake.broker
    topics = TopicReadings(broker.catalog, fake.clock, broker.placement)
    groups = GroupReadings(broker.groups.registry, broker.groups.offsets, broker.catalog)
    return by_labels(topics.read()) | by_labels(groups.read())


def highest(brokers: Iterable[Figures], name: str) -> dict[tuple[str, ...], float]:
    """max by (all labels but the instance)."""
    found: dict[tuple[str, ...], float] = {}
    for figures in brokers:
        for (family, *labels), value in figures.items():
            if family == name:
                assert isinstance(value, int | float)
                found[*labels,] = max(value, found.get((*labels,), value))
    return found


def evaluated(brokers: list[Figures]) -> dict[tuple[str, str], float]:
    """By group and topic. All brokers have the same cluster_id."""
    ends = highest(brokers, ENDS)
    found: dict[tuple[str, str], float] = {}
    for (group, topic, partition), committed in highest(brokers, COMMITTED).items():
        if (topic, partition) in ends:
            lag = max(ends[topic, partition] - committed, 0)
            found[group, topic] = found.get((group, topic), 0) + lag
    return found


def three() -> SharedStore:
    """Each broker leads two partitions of 10 records, and coordinates some groups."""
    shared = SharedStore()
    for node_id in (1, 2, 3):
        shared.start(
            node_id,
            offsets_topic="on",
            offsets_topic_num_partitions="3",
            transaction_state_log_num_partitions="1",
            default_replication_factor="3",
            auto_leader_rebalance_enable="false",
        )
    shared.topic("t", 6)
    for node_id, fake in shared.brokers.items():
        for index in shared.led("t", node_id):
            fake.appended(record_batch(["r"] * 10), "t", index)
    shared.run()
    return shared


def test_the_expression_has_the_steps_that_are_evaluated_here() -> None:
    info = "* on (job, instance) group_left (cluster_id) ottla_build_info"
    assert group_lag("{a}") == (
        "sum by (cluster_id, consumergroup, topic) (clamp_min("
        f"max by (cluster_id, topic, partition) ({ENDS}{{a}} {info})"
        " - on (cluster_id, topic, partition) group_right () "
        f"max by (cluster_id, consumergroup, topic, partition) ({COMMITTED}{{a}} {info}), 0))"
    )


def test_partitions_of_all_brokers_count_whoever_coordinates_the_group() -> None:
    shared = three()
    client = shared.brokers[1].client()
    for index, offset in enumerate((0, 1, 2, 3, 4, 15)):
        commit(client, "g", ("t", [at(index, offset)]))
    shared.run()
    samples = [exported(fake) for fake in shared.brokers.values()]
    assert sum((COMMITTED, "g", "t", "0") in one for one in samples) == 1
    assert all(sum((ENDS, "t", str(n)) in one for one in samples) == 1 for n in range(6))
    assert not any(("kafka_consumergroup_lag_sum", "g", "t") in one for one in samples)
    expected = {("g", "t"): 50 - sum(range(5))}
    assert evaluated(samples) == expected
    # While a leader moves, the last scrape of the old one is there, too.
    assert evaluated([*samples, samples[1] | {(ENDS, "t", "0"): 8}]) == expected
