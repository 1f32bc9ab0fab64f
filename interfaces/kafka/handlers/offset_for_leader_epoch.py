"""OffsetForLeaderEpoch (key 23), versions 2-4.

2  the client says which epoch it believes in (KIP-320)
3  consumers are told from replicas: all are answered as consumers
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


def handle(request: OffsetForLeaderEpochRequest, call: Call) -> OffsetForLeaderEpochResponse:
    call.topics = len(request.topics)
    call.broker.catalog.load((t.topic, p.partition) for t in request.topics for p in t.partitions)
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_partition(topic.topic, wanted, call) for wanted in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _partition(topic: str, wanted: OffsetForLeaderPartition, call: Call) -> EpochEndOffset:
    try:
        end = call.broker.messages.offset_for_leader_epoch.find(
            topic, wanted.partition, wanted.current_leader_epoch, wanted.leader_epoch
        )
    except BrokerError as refused:
        return EpochEndOffset(error_code=call.code(refused), partition=wanted.partition)
    return EpochEndOffset(
        error_code=0,
        partition=wanted.partition,
        leader_epoch=end.leader_epoch,
        end_offset=end.end_offset,
    )
