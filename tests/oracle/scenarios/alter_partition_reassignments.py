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
from tests.oracle.requests import UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

Replicas = list[int] | None


def to(name: str, *replicas: Replicas, first: int = 0) -> ReassignableTopic:
    """One replica list per partition, from `first` on."""
    return ReassignableTopic(
        name=name,
        partitions=[
            ReassignablePartition(partition_index=first + at, replicas=one)
            for at, one in enumerate(replicas)
        ],
    )


def request(*topics: ReassignableTopic) -> AlterPartitionReassignmentsRequest:
    return AlterPartitionReassignmentsRequest(topics=list(topics))


@scenario("alter_partition_reassignments")
def unchanged_replicas(run: ScenarioRun) -> None:
    topic, other = run.topic("a", 2), run.topic("b")
    run.send("one", request(to(topic.name, [1])))
    run.send("two", request(to(topic.name, [1], [1]), to(other.name, [1])))
    run.send("none", request())
    run.send("no partition", request(to(topic.name)))
    listed = ListPartitionReassignmentsTopics(name=topic.name, partition_indexes=[0, 1])
    in_progress = ListPartitionReassignmentsRequest(topics=[listed])
    run.send("reassignments in progress", in_progress, version=0)


@scenario("alter_partition_reassignments")
def cancellations(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    run.send("one", request(to(topic.name, None)))
    run.send("one, and another is moved", request(to(topic.name, None, [1])))
    run.send("an unknown partition", request(to(topic.name, None, first=2)))
    run.send("an unknown topic", request(to(UNKNOWN_TOPIC.name, None)))


@scenario("alter_partition_reassignments")
def refusals(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    for step, replicas in (
        ("an unknown broker", [9]),
        ("a second replica", [1, 2]),
        ("two unknown brokers", [9, 5]),
        ("a broker twice", [1, 1]),
        ("a broker twice, and an unknown one", [9, 1, 1]),
        ("no replicas", []),
        ("a negative broker", [-1]),
    ):
        run.send(step, request(to(topic.name, replicas)))
    run.send("an unknown broker in one of two", request(to(topic.name, [1], [9])))
    run.send("an unknown partition", request(to(topic.name, [1], first=2)))
    run.send("a negative partition", request(to(topic.name, [1], first=-1)))
    run.send("an unknown topic", request(to(UNKNOWN_TOPIC.name, [1], [9])))
    run.send("an illegal name", request(to("a b", [1])))
    run.send("an empty name", request(to("", [1])))
    run.send("a topic twice", request(to(topic.name, [1]), to(topic.name, [9])))
    run.send("a partition twice", request(to(topic.name, [1]), to(topic.name, [1])))


@scenario("alter_partition_reassignments", first=1)
def fixed_replication_factor(run: ScenarioRun) -> None:
    topic = run.topic("a")

    def send(step: str, replicas: Replicas) -> None:
        fixed = request(to(topic.name, replicas))
        fixed.allow_replication_factor_change = False
        run.send(step, fixed)

    send("unchanged", [1])
    send("more", [1, 2])
    send("fewer", [])
    send("a cancellation", None)
    run.send(
        "none", AlterPartitionReassignmentsRequest(topics=[], allow_replication_factor_change=False)
    )


@scenario("alter_partition_reassignments")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "alter_partition_reassignments", b"")
