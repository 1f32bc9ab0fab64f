"""ElectLeaders (key 43), versions 0-2.

1  unclean elections (KIP-460), top-level error      2  flexible

A broker that has its store alone leads all partitions: none needs an election. If all partitions
are requested, the response has only those that needed one, as Kafka's does.
"""

from __future__ import annotations

from application.ports.pending import later
from application.topics.replicas import Outcomes
from domain.cluster_errors import ElectionNotNeeded
from domain.errors import BrokerError, InvalidRequest
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


def handle(request: ElectLeadersRequest, call: Call) -> ElectLeadersResponse | None:
    requested = request.topic_partitions
    call.topics = len(requested or ())
    if request.election_type not in (PREFERRED, UNCLEAN) and requested != []:
        raise InvalidRequest(f"Unknown election type {request.election_type}")
    replicas = call.broker.topics.replicas
    places = (
        replicas.all_places()
        if requested is None
        else [(topic.topic, index) for topic in requested for index in topic.partitions]
    )
    elected = replicas.elect(
        list(dict.fromkeys(places)), request.election_type == PREFERRED, request.timeout_ms
    )
    call.respond_later(later(elected), lambda outcomes: _response(requested, outcomes, call))
    return None


def _response(
    requested: list[TopicPartitions] | None, outcomes: Outcomes, call: Call
) -> ElectLeadersResponse:
    if requested is None:
        by_topic: dict[str, list[int]] = {name: [] for name in call.broker.catalog.names()}
        for (name, index), error in outcomes.items():
            if not isinstance(error, ElectionNotNeeded):
                by_topic.setdefault(name, []).append(index)
        requested = [
            TopicPartitions(topic=name, partitions=found) for name, found in by_topic.items()
        ]
    return ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    _result(index, outcomes[topic.topic, index], call) for index in topic.partitions
                ],
            )
            for topic in requested
        ]
    )


def _result(index: int, error: BrokerError | None, call: Call) -> PartitionResult:
    if error is None:
        return PartitionResult(partition_id=index, error_message=None)
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
