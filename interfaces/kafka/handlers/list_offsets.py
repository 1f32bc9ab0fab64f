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


class Searches:
    """The partitions whose answers have to be looked for, which may take some time."""

    def __init__(self, read_committed: bool) -> None:
        self.read_committed = read_committed
        self._found: list[tuple[Search, ListOffsetsPartitionResponse]] = []

    def add(self, search: Search, answer: ListOffsetsPartitionResponse) -> None:
        self._found.append((search, answer))

    def complete(self, response: ListOffsetsResponse, call: Call) -> ListOffsetsResponse | None:
        pending = call.broker.messages.list_offsets.complete([search for search, _ in self._found])
        if pending is None:
            return self._settled(response, call)
        call.respond_later(pending, lambda _: self._settled(response, call))
        return None

    def _settled(self, response: ListOffsetsResponse, call: Call) -> ListOffsetsResponse:
        for search, answer in self._found:
            result = search.result
            if isinstance(result, BrokerError):
                answer.error_code = call.code(result)
            elif result is not None:
                _fill(answer, result, call)
        return response


def handle(request: ListOffsetsRequest, call: Call) -> ListOffsetsResponse | None:
    searches = Searches(request.isolation_level == READ_COMMITTED)
    call.topics = len(request.topics)
    times = Counter((t.name, one.partition_index) for t in request.topics for one in t.partitions)
    call.broker.catalog.load(times)
    response = ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    _partition(topic.name, wanted, searches, call)
                    if times[topic.name, index] == 1
                    else _refused(index, InvalidRequest("Duplicate partition"), call)
                    for index, wanted in {p.partition_index: p for p in topic.partitions}.items()
                ],
            )
            for topic in request.topics
        ]
    )
    return searches.complete(response, call)


def _partition(
    topic_name: str, wanted: ListOffsetsPartition, searches: Searches, call: Call
) -> ListOffsetsPartitionResponse:
    try:
        if call.version < FIRST_VERSION_OF.get(wanted.timestamp, 0):
            raise UnsupportedVersion(
                f"Timestamp {wanted.timestamp} is not known to version {call.version}"
            )
        partition = call.broker.catalog.existing_partition(topic_name, wanted.partition_index)
        if wanted.current_leader_epoch != NO_LEADER_EPOCH:
            partition.check_leader_epoch(wanted.current_leader_epoch)
        found = call.broker.messages.list_offsets.find(
            partition, wanted.timestamp, searches.read_committed
        )
    except BrokerError as refused:
        return _refused(wanted.partition_index, refused, call)
    answer = ListOffsetsPartitionResponse(partition_index=wanted.partition_index)
    if isinstance(found, Search):
        searches.add(found, answer)
    else:
        _fill(answer, found, call)
    return answer


def _fill(answer: ListOffsetsPartitionResponse, found: FoundOffset, call: Call) -> None:
    answer.timestamp = found.timestamp
    answer.offset = found.offset
    if call.version >= FIRST_WITH_LEADER_EPOCH:
        answer.leader_epoch = found.leader_epoch


def _refused(index: int, error: BrokerError, call: Call) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=index, error_code=call.code(error))
