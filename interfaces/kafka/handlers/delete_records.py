"""DeleteRecords (key 21), versions 0-2 (KIP-107).

2  flexible

Unknown partitions are first in the response, as in Kafka. If a partition is named twice, the last
offset counts. The response is sent after the commit, so the client's timeout is not needed.
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
    requested = list(
        {
            (topic.name, one.partition_index): RecordsToDelete(
                topic.name, one.partition_index, one.offset
            )
            for topic in request.topics
            for one in topic.partitions
        }.values()
    )
    call.respond_later(
        call.broker.messages.delete_records.delete(requested, call.requester),
        lambda low_watermarks: _response(requested, low_watermarks, call),
    )


def _response(
    requested: list[RecordsToDelete], low_watermarks: list[LowWatermark], call: Call
) -> DeleteRecordsResponse:
    missing: dict[object, DeleteRecordsTopicResult] = {}
    found: dict[object, DeleteRecordsTopicResult] = {}
    for one, low_watermark in zip(requested, low_watermarks, strict=True):
        topics = missing if isinstance(low_watermark, UnknownTopicOrPartition) else found
        topic = topics.setdefault(one.topic, DeleteRecordsTopicResult(name=one.topic))
        topic.partitions.append(_result(one.index, low_watermark, call))
    return DeleteRecordsResponse(
        topics=merged(missing, list(found.values()), lambda topic: topic.name)
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
