"""AlterPartitionReassignments (key 45), versions 0-1 (KIP-455).

1  the client may forbid changes of the replication factor (KIP-860)

Brokers that share a store copy nothing: a reassignment is under way until another leader leads. One
to this broker alone completes at once.
"""

from __future__ import annotations

from application.ports.pending import later
from domain.errors import BrokerError
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)


def handle(
    request: AlterPartitionReassignmentsRequest, call: Call
) -> AlterPartitionReassignmentsResponse | None:
    call.topics = len(request.topics)
    if not request.topics:  # as Kafka, which does not ask its controller then
        return AlterPartitionReassignmentsResponse(error_message="")
    requested = [
        ((topic.name, one.partition_index), one.replicas)
        for topic in request.topics
        for one in topic.partitions
    ]
    changed = call.broker.topics.replicas.reassign(
        requested, request.allow_replication_factor_change
    )
    call.respond_later(later(changed), lambda errors: _response(request, errors, call))
    return None


def _response(
    request: AlterPartitionReassignmentsRequest, errors: list[BrokerError | None], call: Call
) -> AlterPartitionReassignmentsResponse:
    in_order = iter(errors)
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    _partition(one.partition_index, next(in_order), call)
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _partition(
    index: int, refused: BrokerError | None, call: Call
) -> ReassignablePartitionResponse:
    if refused is None:
        return ReassignablePartitionResponse(partition_index=index, error_message=None)
    return ReassignablePartitionResponse(
        partition_index=index, error_code=call.code(refused), error_message=refused.message or None
    )
