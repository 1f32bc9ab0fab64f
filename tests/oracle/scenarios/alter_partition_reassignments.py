from __future__ import annotations

from interfaces.kafka.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from interfaces.kafka.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.oracle.requests import NOBODY
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

Replicas = list[int] | None


def to(name: str, *replicas: Replicas, first: int = 0) -> ReassignableTopic:
    """Each goes to a partition of its own, from `first` on."""
    return ReassignableTopic(
        name=name,
        partitions=[
            ReassignablePartition(partition_index=first + at, replicas=one)
            for at, one in enumerate(replicas)
        ],
    )


def asked(*topics: ReassignableTopic) -> AlterPartitionReassignmentsRequest:
    return AlterPartitionReassignmentsRequest(topics=list(topics))


@scenario("alter_partition_reassignments")
def to_where_they_are(tell: Teller) -> None:
    topic, other = tell.topic("a", 2), tell.topic("b")
    tell.ask("one", asked(to(topic.name, [1])))
    tell.ask("two", asked(to(topic.name, [1], [1]), to(other.name, [1])))
    tell.ask("none", asked())
    tell.ask("no partition", asked(to(topic.name)))
    wanted = ListPartitionReassignmentsTopics(name=topic.name, partition_indexes=[0, 1])
    going_on = ListPartitionReassignmentsRequest(topics=[wanted])
    tell.ask("nothing is under way", going_on, version=0)


@scenario("alter_partition_reassignments")
def cancellations(tell: Teller) -> None:
    topic = tell.topic("a", 2)
    tell.ask("one", asked(to(topic.name, None)))
    tell.ask("one, and another is moved", asked(to(topic.name, None, [1])))
    tell.ask("an unknown partition", asked(to(topic.name, None, first=2)))
    tell.ask("an unknown topic", asked(to(NOBODY.name, None)))


@scenario("alter_partition_reassignments")
def refusals(tell: Teller) -> None:
    topic = tell.topic("a", 2)
    for step, replicas in (
        ("an unknown broker", [9]),
        ("a second replica", [1, 2]),
        ("two unknown brokers", [9, 5]),
        ("a broker twice", [1, 1]),
        ("a broker twice, and an unknown one", [9, 1, 1]),
        ("no replicas", []),
        ("a negative broker", [-1]),
    ):
        tell.ask(step, asked(to(topic.name, replicas)))
    tell.ask("an unknown broker in one of two", asked(to(topic.name, [1], [9])))
    tell.ask("an unknown partition", asked(to(topic.name, [1], first=2)))
    tell.ask("a negative partition", asked(to(topic.name, [1], first=-1)))
    tell.ask("an unknown topic", asked(to(NOBODY.name, [1], [9])))
    tell.ask("an illegal name", asked(to("a b", [1])))
    tell.ask("an empty name", asked(to("", [1])))
    tell.ask("a topic twice", asked(to(topic.name, [1]), to(topic.name, [9])))
    tell.ask("a partition twice", asked(to(topic.name, [1]), to(topic.name, [1])))


@scenario("alter_partition_reassignments", first=1)
def as_many_replicas_as_before(tell: Teller) -> None:
    topic = tell.topic("a")

    def ask(step: str, replicas: Replicas) -> None:
        request = asked(to(topic.name, replicas))
        request.allow_replication_factor_change = False
        tell.ask(step, request)

    ask("as many", [1])
    ask("more", [1, 2])
    ask("fewer", [])
    ask("a cancellation", None)
    tell.ask(
        "none", AlterPartitionReassignmentsRequest(topics=[], allow_replication_factor_change=False)
    )


@scenario("alter_partition_reassignments")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "alter_partition_reassignments", b"")
