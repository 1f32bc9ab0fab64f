"""DeleteRecords (key 21), versions 0-2 (KIP-107).

2  flexible

Partitions that are not there stand first in the answer. What is named twice counts as last said.
The answer comes when it is durable, so the client's timeout has nothing to bound.
"""

from __future__ import annotations

from application.partitions.delete_records import LowWatermark, RecordsToDelete
from domain.errors import BrokerError, UnknownTopicOrPartition
from interfaces.kafka.handlers.shared.merged_topics import merged
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

NO_LOW_WATERMARK = -1

FAILED = {"low_watermark": NO_LOW_WATERMARK}


def handle(request: DeleteRecordsRequest, call: Call) -> None:
    call.topics = len(request.topics)
    wanted = list(
        {
            (topic.name, one.partition_index): RecordsToDelete(
                topic.name, one.partition_index, one.offset
            )
            for topic in request.topics
            for one in topic.partitions
        }.values()
    )
    call.respond_later(
        call.broker.messages.delete_records.delete(wanted, call.requester),
        lambda low_watermarks: _response(wanted, low_watermarks, call),
    )


def _response(
    wanted: list[RecordsToDelete], low_watermarks: list[LowWatermark], call: Call
) -> DeleteRecordsResponse:
    missing: dict[object, DeleteRecordsTopicResult] = {}
    answered: dict[object, DeleteRecordsTopicResult] = {}
    for one, low_watermark in zip(wanted, low_watermarks, strict=True):
        topics = missing if isinstance(low_watermark, UnknownTopicOrPartition) else answered
        topic = topics.setdefault(one.topic, DeleteRecordsTopicResult(name=one.topic))
        topic.partitions.append(_result(one.index, low_watermark, call))
    return DeleteRecordsResponse(
        topics=merged(missing, list(answered.values()), lambda topic: topic.name)
    )


def _result(index: int, low_watermark: LowWatermark, call: Call) -> DeleteRecordsPartitionResult:
    if isinstance(low_watermark, BrokerError):
        return DeleteRecordsPartitionResult(
            partition_index=index,
            low_watermark=NO_LOW_WATERMARK,
            error_code=call.code(low_watermark),
        )
    return DeleteRecordsPartitionResult(
        partition_index=index, low_watermark=low_watermark, error_code=0
    )
