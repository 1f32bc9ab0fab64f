"""AlterPartitionReassignments (key 45), versions 0-1 (KIP-455).

1  the client may forbid changes of the replication factor (KIP-860), which is always 1 here

A reassignment to this broker completes at once: each partition is already on it.
"""

from __future__ import annotations

from domain.errors import BrokerError
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)


def handle(
    request: AlterPartitionReassignmentsRequest, call: Call
) -> AlterPartitionReassignmentsResponse:
    call.topics = len(request.topics)
    if not request.topics:  # as Kafka, which does not ask its controller then
        return AlterPartitionReassignmentsResponse(error_message="")
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[_partition(topic.name, one, call) for one in topic.partitions],
            )
            for topic in request.topics
        ],
    )


def _partition(
    topic_name: str, requested: ReassignablePartition, call: Call
) -> ReassignablePartitionResponse:
    code, message, index = 0, None, requested.partition_index
    try:
        call.broker.topics.replicas.reassign(topic_name, index, requested.replicas)
    except BrokerError as refused:
        code, message = call.code(refused), refused.message or None
    return ReassignablePartitionResponse(
        partition_index=index, error_code=code, error_message=message
    )
