from __future__ import annotations

from interfaces.kafka.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.fakes.client import FakeClient, FakeKafka


def test_no_partition_is_being_reassigned(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("t")
    names = ("t", "absent")
    topics = [ListPartitionReassignmentsTopics(name=name, partition_indexes=[0]) for name in names]
    for requested in (topics, None):
        response = client.ask(ListPartitionReassignmentsRequest(topics=requested), 0)
        assert (response.error_code, response.error_message, response.topics) == (0, None, [])
