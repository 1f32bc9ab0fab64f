from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given

from domain.groups.consumer.assignors.assignor import AssignedMember
from domain.groups.consumer.assignors.range import assign
from tests.unit.domain.groups.consumer.assignors.groups import (
    TOPICS,
    alike,
    check_complete,
    counts,
    different,
    with_subscriptions,
)

Topics = Mapping[str, frozenset[bytes]]


@given(different, counts)
def test_every_partition_of_a_subscribed_topic_has_one_owner(
    topics: Topics, partition_counts: dict[bytes, int]
) -> None:
    check_complete(topics, partition_counts, assign(with_subscriptions(topics), partition_counts))


@given(different, counts)
def test_members_get_adjacent_partitions_of_each_topic_and_equal_numbers(
    topics: Topics, partition_counts: dict[bytes, int]
) -> None:
    assigned = assign(with_subscriptions(topics), partition_counts)
    for topic in TOPICS:
        shares = [assigned[one].get(topic, frozenset()) for one in topics if topic in topics[one]]
        assert all(max(s) - min(s) == len(s) - 1 for s in shares if s)
        assert not shares or max(map(len, shares)) - min(map(len, shares)) <= 1


@given(alike, counts)
def test_topics_with_equal_partition_counts_are_assigned_alike(
    topics: Topics, partition_counts: dict[bytes, int]
) -> None:
    same = dict.fromkeys(partition_counts, 7)
    for partitions in assign(with_subscriptions(topics), same).values():
        assert len(set(partitions.values())) <= 1


def test_a_static_member_gets_the_same_partitions_under_another_member_id() -> None:
    topic = frozenset({TOPICS[0]})
    before = assign(
        {"m": AssignedMember("i1", topic), "n": AssignedMember("i2", topic)}, {TOPICS[0]: 4}
    )
    after = assign(
        {"z": AssignedMember("i1", topic), "n": AssignedMember("i2", topic)}, {TOPICS[0]: 4}
    )
    assert after["z"] == before["m"] == {TOPICS[0]: frozenset({0, 1})}
    assert after["n"] == before["n"]


def test_static_members_come_before_others() -> None:
    topic = frozenset({TOPICS[0]})
    assigned = assign(
        {"a": AssignedMember(None, topic), "b": AssignedMember("i", topic)}, {TOPICS[0]: 3}
    )
    assert assigned["b"] == {TOPICS[0]: frozenset({0, 1})}
