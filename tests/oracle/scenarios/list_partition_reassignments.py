from __future__ import annotations

from interfaces.kafka.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.oracle.requests import NOBODY
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def asked(name: str, *partitions: int) -> ListPartitionReassignmentsRequest:
    topic = ListPartitionReassignmentsTopics(name=name, partition_indexes=list(partitions))
    return ListPartitionReassignmentsRequest(topics=[topic])


@scenario("list_partition_reassignments")
def topics(tell: Teller) -> None:
    topic = tell.topic("a", 2)
    tell.ask("all of them", ListPartitionReassignmentsRequest(topics=None))
    tell.ask("none", ListPartitionReassignmentsRequest(topics=[]))
    tell.ask("one", asked(topic.name, 0, 1))
    tell.ask("an unknown partition", asked(topic.name, 2))
    tell.ask("no partition", asked(topic.name))
    tell.ask("an unknown topic", asked(NOBODY.name, 0))
    tell.ask("an illegal name", asked("a b", 0))


@scenario("list_partition_reassignments")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "list_partition_reassignments", b"")
