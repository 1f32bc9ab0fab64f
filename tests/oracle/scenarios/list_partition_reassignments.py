from __future__ import annotations

from interfaces.kafka.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.oracle.requests import UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


def request(name: str, *partitions: int) -> ListPartitionReassignmentsRequest:
    topic = ListPartitionReassignmentsTopics(name=name, partition_indexes=list(partitions))
    return ListPartitionReassignmentsRequest(topics=[topic])


@scenario("list_partition_reassignments")
def topics(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    run.send("all of them", ListPartitionReassignmentsRequest(topics=None))
    run.send("none", ListPartitionReassignmentsRequest(topics=[]))
    run.send("one", request(topic.name, 0, 1))
    run.send("an unknown partition", request(topic.name, 2))
    run.send("no partition", request(topic.name))
    run.send("an unknown topic", request(UNKNOWN_TOPIC.name, 0))
    run.send("an illegal name", request("a b", 0))


@scenario("list_partition_reassignments")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "list_partition_reassignments", b"")
