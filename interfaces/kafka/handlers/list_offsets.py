"""ListOffsets (key 2), versions 1-11.

 2  isolation level       7  largest timestamp (-3)        9  latest in remote storage (-5)
 4  leader epoch          8  earliest in local storage (-4)   11  earliest to be uploaded (-6)
 6  flexible             10  timeout (there is nothing remote to wait for)

A special timestamp that the version does not know is refused with 35 in its partition; a partition
that is asked for twice is answered once, with 42.
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
NO_LEADER_EPOCH = -1

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
        answers = ListOffsetsTopicResponse(name=topic.name)
        response.topics.append(answers)
        for index, wanted in {one.partition_index: one for one in topic.partitions}.items():
            answer = ListOffsetsPartitionResponse(partition_index=index)
            answers.partitions.append(answer)
            try:
                if times[topic.name, index] > 1:
                    raise InvalidRequest("Duplicate partition")
                found = _find(topic.name, wanted, request.isolation_level, call)
            except BrokerError as refused:
                answer.error_code = call.code(refused)
            else:
                if isinstance(found, Search):
                    searches.append((found, answer))
                else:
                    _fill(answer, found, call)

    def completed(_: None) -> ListOffsetsResponse:
        for search, answer in searches:
            _fill(answer, search.result, call)
        return response

    pending = call.broker.messages.list_offsets.complete([search for search, _ in searches])
    if pending is None:
        return completed(None)
    call.respond_later(pending, completed)
    return None


def _find(
    topic_name: str, wanted: ListOffsetsPartition, isolation_level: int, call: Call
) -> FoundOffset | Search:
    if call.version < FIRST_VERSION_OF.get(wanted.timestamp, 0):
        raise UnsupportedVersion(
            f"Timestamp {wanted.timestamp} is not known to version {call.version}"
        )
    partition = call.broker.catalog.existing_partition(topic_name, wanted.partition_index)
    if wanted.current_leader_epoch != NO_LEADER_EPOCH:
        partition.check_leader_epoch(wanted.current_leader_epoch)
    return call.broker.messages.list_offsets.find(
        partition, wanted.timestamp, isolation_level == READ_COMMITTED
    )


def _fill(
    answer: ListOffsetsPartitionResponse, found: FoundOffset | BrokerError | None, call: Call
) -> None:
    if isinstance(found, BrokerError):
        answer.error_code = call.code(found)
    elif found is not None:
        answer.timestamp = found.timestamp
        answer.offset = found.offset
        if call.version >= FIRST_WITH_LEADER_EPOCH:
            answer.leader_epoch = found.leader_epoch
