"""ElectLeaders (key 43), versions 0-2.

1  unclean elections (KIP-460), top-level error      2  flexible

The only replica is the preferred leader and leads, so no partition needs an election. If all
partitions are requested, the response names the topics without partitions, as Kafka's does.
"""

from __future__ import annotations

from domain.errors import BrokerError, ElectionNotNeeded, InvalidRequest
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
    TopicPartitions,
)

PREFERRED, UNCLEAN = 0, 1

EXPECTED = (ElectionNotNeeded,)


def handle(request: ElectLeadersRequest, call: Call) -> ElectLeadersResponse:
    requested = request.topic_partitions
    call.topics = len(requested or ())
    if request.election_type not in (PREFERRED, UNCLEAN) and requested != []:
        raise InvalidRequest(f"Unknown election type {request.election_type}")
    if requested is None:
        requested = [TopicPartitions(topic=name) for name in call.broker.catalog.names()]
    return ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    _result(index, call.broker.topics.replicas.elect(topic.topic, index), call)
                    for index in topic.partitions
                ],
            )
            for topic in requested
        ]
    )


def _result(index: int, error: BrokerError, call: Call) -> PartitionResult:
    return PartitionResult(
        partition_id=index, error_code=call.code(error), error_message=error.message
    )


def failed(
    request: ElectLeadersRequest, code: int, message: str | None, version: int
) -> ElectLeadersResponse:
    return ElectLeadersResponse(
        error_code=code if version else 0,
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    PartitionResult(partition_id=index, error_code=code, error_message=message)
                    for index in topic.partitions
                ],
            )
            for topic in request.topic_partitions or ()
        ],
    )
