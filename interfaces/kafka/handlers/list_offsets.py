"""ListOffsets (key 2), versions 1-11.

 2  isolation level       7  largest timestamp (-3)        9  latest in remote storage (-5)
 4  leader epoch          8  earliest in local storage (-4)   11  earliest to be uploaded (-6)
 6  flexible             10  timeout (not used: no remote storage)

A special timestamp of a later version is error 35 of its partition; a duplicate partition has one
result, with error 42.
"""

from __future__ import annotations

from collections import Counter

from application.partitions.list_offsets import (
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    FoundOffset,
    Search,
)
from domain.errors import BrokerError, InvalidRequest, UnsupportedVersion
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

READ_COMMITTED = 1
FIRST_WITH_LEADER_EPOCH = 4

FIRST_VERSION_OF = {
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}


def handle(request: ListOffsetsRequest, call: Call) -> ListOffsetsResponse | None:
    call.topics = len(request.topics)
    times = Counter((t.name, one.partition_index) for t in request.topics for one in t.partitions)
    call.broker.catalog.load(times)
    response = ListOffsetsResponse()
    searches: list[tuple[Search, ListOffsetsPartitionResponse]] = []
    for topic in request.topics:
        topic_response = ListOffsetsTopicResponse(name=topic.name)
        response.topics.append(topic_response)
        for index, requested in {one.partition_index: one for one in topic.partitions}.items():
            result = ListOffsetsPartitionResponse(partition_index=index)
            topic_response.partitions.append(result)
            try:
                if times[topic.name, index] > 1:
                    raise InvalidRequest("Duplicate partition")
                found = _find(topic.name, requested, request.isolation_level, call)
            except BrokerError as refused:
                result.error_code = call.code(refused)
            else:
                if isinstance(found, Search):
                    searches.append((found, result))
                else:
                    _fill(result, found, call)

    def completed(_: None) -> ListOffsetsResponse:
        for search, result in searches:
            _fill(result, search.result, call)
        return response

    pending = call.broker.messages.list_offsets.complete([search for search, _ in searches])
    if pending is None:
        return completed(None)
    call.respond_later(pending, completed)
    return None


def _find(
    topic_name: str, requested: ListOffsetsPartition, isolation_level: int, call: Call
) -> FoundOffset | Search:
    if call.version < FIRST_VERSION_OF.get(requested.timestamp, 0):
        raise UnsupportedVersion(
            f"Timestamp {requested.timestamp} is not known to version {call.version}"
        )
    partition = call.broker.catalog.existing_partition(
        topic_name, requested.partition_index, requested.current_leader_epoch
    )
    return call.broker.messages.list_offsets.find(
        partition, requested.timestamp, isolation_level == READ_COMMITTED
    )


def _fill(
    result: ListOffsetsPartitionResponse, found: FoundOffset | BrokerError | None, call: Call
) -> None:
    if isinstance(found, BrokerError):
        result.error_code = call.code(found)
    elif found is not None:
        result.timestamp = found.timestamp
        result.offset = found.offset
        if call.version >= FIRST_WITH_LEADER_EPOCH:
            result.leader_epoch = found.leader_epoch
