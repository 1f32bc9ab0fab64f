"""OffsetForLeaderEpoch (key 23), versions 2-4.

2  current leader epoch of the client (KIP-320)
3  replica id (all clients are treated as consumers)
4  flexible
"""

from __future__ import annotations

from domain.errors import BrokerError
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

#: As in Kafka, topics without the right are last.
REFUSED_LAST = True
#: Other brokers sent this request first: who may ClusterAction needs no Describe of the topics.
OR_CLUSTER_ACTION = True


def handle(request: OffsetForLeaderEpochRequest, call: Call) -> OffsetForLeaderEpochResponse:
    call.topics = len(request.topics)
    call.broker.catalog.load((t.topic, p.partition) for t in request.topics for p in t.partitions)
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[
                    _partition(topic.topic, requested, call) for requested in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _partition(topic: str, requested: OffsetForLeaderPartition, call: Call) -> EpochEndOffset:
    try:
        end = call.broker.messages.offset_for_leader_epoch.find(
            topic, requested.partition, requested.current_leader_epoch, requested.leader_epoch
        )
    except BrokerError as refused:
        return EpochEndOffset(error_code=call.code(refused), partition=requested.partition)
    return EpochEndOffset(
        error_code=0,
        partition=requested.partition,
        leader_epoch=end.leader_epoch,
        end_offset=end.end_offset,
    )
