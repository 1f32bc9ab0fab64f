"""Group stories for any client: each test_*.py in this folder names its clients.

class TestSharing(SharingStories):
    flavour = run_with(RANGE, long=(ROUNDROBIN,))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicPartition,
)

from tests.e2e.conftest import Broker, CreateTopic, StartBroker, new_topic
from tests.e2e.groups.conftest import Join
from tests.e2e.groups.members import (
    CHANGED,
    Flavour,
    Member,
    wait_for_all,
    wait_for_shares,
    wait_until,
)
from tests.e2e.groups.numbers import Numbers
from tests.e2e.groups.settings import ARGUMENTS
from tests.e2e.librdkafka import PATIENCE_S, admin


def committed(bootstrap: str, group: str, topic: str) -> dict[int, int]:
    client, found = admin(bootstrap), None
    while found is None:
        futures = client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        try:
            found = futures[group].result(PATIENCE_S)
        except KafkaException as refused:  # while the offsets are loaded, as with Kafka
            if refused.args[0].code() != KafkaError.COORDINATOR_LOAD_IN_PROGRESS:
                raise
    offsets = {p.partition: p.offset for p in found.topic_partitions if p.topic == topic}
    return dict(sorted(offsets.items()))


def commit(bootstrap: str, group: str, topic: str, *offsets: int) -> None:
    """One offset per partition, for a group without members."""
    places = [TopicPartition(topic, n, offset) for n, offset in enumerate(offsets)]
    client, errors = admin(bootstrap), {KafkaError.COORDINATOR_LOAD_IN_PROGRESS}
    while errors == {KafkaError.COORDINATOR_LOAD_IN_PROGRESS}:
        request = [ConsumerGroupTopicPartitions(group, places)]
        result = client.alter_consumer_group_offsets(request)[group].result(PATIENCE_S)
        errors = {one.error.code() for one in result.topic_partitions if one.error is not None}
    assert errors == set()


def state(bootstrap: str, group: str) -> ConsumerGroupState:
    client = admin(bootstrap)
    found = client.describe_consumer_groups([group])[group].result(PATIENCE_S)
    return ConsumerGroupState(found.state)


def offsets(member: Member, count: int) -> list[int]:
    return [record.offset for record in member.take(count)]


def run_with(*flavours: Flavour, long: Sequence[Flavour] = ()) -> Any:
    """The fixture `flavour` of a class of stories; those of `long` run with --long only."""
    params = [*flavours, *(pytest.param(one, marks=pytest.mark.long) for one in long)]

    @pytest.fixture(params=params, ids=str)
    def flavour(self: object, request: pytest.FixtureRequest) -> Flavour:
        found: Flavour = request.param
        return found

    return flavour


class PositionStories:
    """One member and its position."""

    def test_a_new_group_starts_at_the_beginning(
        self, bootstrap: str, topic: str, join: Join
    ) -> None:
        numbers = Numbers(bootstrap, topic)
        numbers.produce(5)
        member = join(topic)
        assert offsets(member, 5) == [0, 1, 2, 3, 4]
        numbers.produce(5)
        assert offsets(member, 5) == [5, 6, 7, 8, 9]

    def test_a_new_group_starts_at_the_end(self, bootstrap: str, topic: str, join: Join) -> None:
        numbers = Numbers(bootstrap, topic)
        numbers.produce(5)
        member = join(topic, reset="latest")
        wait_for_shares([member], topic, 1)
        while not member.records:  # clients do not report when they have the end offset
            numbers.produce(1)
            with CHANGED:
                CHANGED.wait(0.1)
        assert member.records[0].offset >= 5

    def test_the_next_member_continues_at_the_committed_offset(
        self, bootstrap: str, topic: str, group: str, join: Join
    ) -> None:
        numbers = Numbers(bootstrap, topic)
        numbers.produce(10)
        first = join(topic, commit="manual")
        first.take(10)
        assert committed(bootstrap, group, topic) in ({}, {0: -1001})
        first.do("commit", (topic, 0, 7))
        assert committed(bootstrap, group, topic) == {0: 7}
        first.leave()
        assert offsets(join(topic, commit="manual"), 3) == [7, 8, 9]

    def test_a_leaving_member_has_committed_what_it_read(
        self, bootstrap: str, topic: str, group: str, join: Join
    ) -> None:
        numbers = Numbers(bootstrap, topic)
        numbers.produce(10)
        first = join(topic)
        first.take(10)
        first.leave()
        assert committed(bootstrap, group, topic) == {0: 10}
        assert state(bootstrap, group) is ConsumerGroupState.EMPTY
        numbers.produce(3)
        assert offsets(join(topic), 3) == [10, 11, 12]

    def test_a_member_can_seek_back_and_forth(self, bootstrap: str, topic: str, join: Join) -> None:
        Numbers(bootstrap, topic).produce(10)
        member = join(topic)
        assert offsets(member, 10) == list(range(10))
        member.do("seek", (topic, 0, 3))
        assert offsets(member, 7) == [3, 4, 5, 6, 7, 8, 9]
        member.do("seek", (topic, 0, 9))
        assert offsets(member, 1) == [9]

    def test_a_paused_partition_is_not_read_until_it_is_resumed(
        self, bootstrap: str, create_topic: CreateTopic, join: Join
    ) -> None:
        topic = create_topic(2)
        numbers = Numbers(bootstrap, topic, partitions=2)
        numbers.produce(4)
        member = join(topic)
        member.take(4)
        member.do("pause", (topic, 0))
        numbers.produce(20)
        assert {record.partition for record in member.take(10)} == {1}
        member.do("resume", (topic, 0))
        assert {record.partition for record in member.take(10)} == {0}

    def test_several_topics_are_read(
        self, bootstrap: str, create_topic: CreateTopic, join: Join
    ) -> None:
        topics = [create_topic(2), create_topic(1)]
        numbers = Numbers(bootstrap, *topics)
        numbers.produce(20)
        member = join(*topics)
        assert sorted(map(int, (r.value for r in member.take(20)))) == list(range(20))
        wait_until(lambda: len(member.assigned) == 3, lambda: member)

    #: KafkaJS looks for matching topics only when it subscribes. In the consumer protocol the
    #: broker looks for them, later: see test_patterns.py.
    sees_new_topics = True

    def test_topics_are_found_by_a_pattern(
        self, bootstrap: str, group: str, flavour: Flavour, broker: Broker, join: Join
    ) -> None:
        def created(name: str) -> str:
            with broker.connect() as client:
                assert client.create_topic(name, 1, {}) == 0
            return name

        first, other = created(f"{group}-a"), created(f"other-{group}-b")
        Numbers(bootstrap, other).produce(5)
        Numbers(bootstrap, first).produce(5)
        member = join(f"^{group}-.*")
        assert {record.topic for record in member.take(5)} == {first}
        if self.sees_new_topics and flavour.settings.get("protocol") != "consumer":
            later = created(f"{group}-c")
            Numbers(bootstrap, later).produce(5)
            assert {record.topic for record in member.take(5)} == {later}
        assert other not in {topic for topic, _ in member.assigned}


class SharingStories:
    """Several members that join, leave and are killed."""

    def test_five_members_join_and_leave_under_load(
        self, bootstrap: str, create_topic: CreateTopic, join: Join
    ) -> None:
        topic = create_topic(10)
        numbers = Numbers(bootstrap, topic, partitions=10)
        with numbers.flowing():
            members = [join(topic)]
            wait_for_shares(members, topic, 10)
            members.append(join(topic))
            wait_for_shares(members, topic, 10)
            members += [join(topic) for _ in range(3)]
            wait_for_shares(members, topic, 10)
            for leaving in members[:3]:
                leaving.leave()
            wait_for_shares(members[3:], topic, 10)
        wait_for_all(numbers.all(), members)

    def test_uncommitted_records_of_a_killed_member_are_read_again(
        self, bootstrap: str, create_topic: CreateTopic, join: Join
    ) -> None:
        topic = create_topic(4)
        numbers = Numbers(bootstrap, topic, partitions=4)
        staying = join(topic, commit="manual", session_ms="1000")
        doomed = join(topic, commit="manual", session_ms="1000", apart=True)
        wait_for_shares([staying, doomed], topic, 4)
        produced = numbers.produce(40)
        doomed.take(10)
        doomed.process.kill()
        wait_for_shares([staying], topic, 4)
        wait_for_all(produced, [staying])


class StaticStories:
    """`group.instance.id`, for clients that support it."""

    def test_a_static_member_returns_to_its_partitions_without_a_rebalance(
        self, bootstrap: str, create_topic: CreateTopic, join: Join
    ) -> None:
        topic = create_topic(4)
        numbers = Numbers(bootstrap, topic, partitions=4)
        first, other = join(topic, instance="first"), join(topic, instance="other")
        wait_for_shares([first, other], topic, 4)
        held, others, known = first.assigned, other.assigned, len(other.assignments)
        generation = max(member.assignments[-1][0] for member in (first, other))
        numbers.produce(40)
        first.take(20)
        first.leave()
        again = join(topic, instance="first")
        wait_until(lambda: again.assigned == held, lambda: again)
        numbers.produce(40)
        assert {record.offset for record in again.take(20)} == set(range(10, 20))
        other.take(40)
        # Late events repeat the assignment; there is no later generation.
        assert {held for _, held in other.assignments[known:]} <= {others}
        assert max(number for number, _ in other.assignments) <= generation


class RestartStories:
    """The broker is stopped and started again over the same data, on the same port."""

    #: Further arguments of that broker.
    arguments: tuple[str, ...] = ()

    def test_a_group_continues_after_a_restart_of_the_broker(
        self, start_broker: StartBroker, group: str, join: Join
    ) -> None:
        broker = start_broker(*ARGUMENTS, *self.arguments)
        topic = new_topic(broker, 4)
        numbers = Numbers(broker.bootstrap, topic, partitions=4)
        members = [join(topic, to=broker.bootstrap, commit="manual") for _ in range(2)]
        wait_for_shares(members, topic, 4)
        numbers.produce(40)
        wait_for_all(numbers.all(), members)
        for member in members:
            member.do("commit", *[(t, p, 6) for t, p in sorted(member.assigned)])
        before = committed(broker.bootstrap, group, topic)
        assert before == dict.fromkeys(range(4), 6)
        with numbers.flowing():
            assert broker.terminate() == 0, broker.log()
            broker.start()
        wait_for_all(numbers.all(), members)
        assert committed(broker.bootstrap, group, topic) == before
        wait_for_shares(members, topic, 4)
        for member in members:
            member.leave()
        successor = join(topic, to=broker.bootstrap)
        assert min(record.offset for record in successor.take(4)) == 6
