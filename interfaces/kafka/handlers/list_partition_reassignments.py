"""ListPartitionReassignments (key 46), version 0 (KIP-455).

One node has no reassignments in progress. Kafka does not check the requested partitions either.
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
