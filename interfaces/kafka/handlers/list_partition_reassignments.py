"""ListPartitionReassignments (key 46), version 0 (KIP-455).

On one node no partition can be on its way to another. Kafka does not check what is named either.
"""

from __future__ import annotations

from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


def handle(
    request: ListPartitionReassignmentsRequest, call: Call
) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(error_message=None)
