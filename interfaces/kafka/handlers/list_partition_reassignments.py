"""ListPartitionReassignments (key 46), version 0 (KIP-455).

A broker that has its store alone has none. Kafka does not check the requested partitions either.
"""

from __future__ import annotations

from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def handle(
    request: ListPartitionReassignmentsRequest, call: Call
) -> ListPartitionReassignmentsResponse:
    requested = request.topics
    topics: dict[str, OngoingTopicReassignment] = {}
    for name, index, one in call.broker.topics.replicas.reassignments(
        None if requested is None else ((each.name, each.partition_indexes) for each in requested)
    ):
        topic = topics.setdefault(name, OngoingTopicReassignment(name=name))
        topic.partitions.append(
            OngoingPartitionReassignment(
                partition_index=index,
                replicas=list(one.shown_replicas),
                adding_replicas=[each for each in one.target if each not in one.replicas],
                removing_replicas=[each for each in one.replicas if each not in one.target],
            )
        )
    return ListPartitionReassignmentsResponse(error_message=None, topics=list(topics.values()))
