"""OffsetDelete (key 47), version 0 (KIP-496).

Deleting an offset that is not committed succeeds. Unknown partitions are first in the response, as
in Kafka; a topic without partitions is omitted.
"""

from __future__ import annotations

from application.ports.pending import Pending
from domain.errors import (
    BrokerError,
    CoordinatorNotAvailable,
    GroupSubscribedToTopic,
    StorageFailed,
    UnknownTopicOrPartition,
)
from domain.groups.group import Group
from interfaces.kafka.handlers.shared.merged_topics import merged
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def handle(request: OffsetDeleteRequest, call: Call) -> None:
    service = call.broker.groups.offset_delete
    call.topics = len(request.topics)
    group = service.group(request.group_id)
    response = _Response(group, call)
    for topic in request.topics:
        response.add(topic)
    pending: Pending[StorageFailed | None] = Pending()
    service.delete(group, response.deleted, pending.resolve)
    call.respond_later(pending, response.committed)


class _Response:
    __slots__ = ("_call", "_found", "_group", "_missing", "deleted")

    def __init__(self, group: Group, call: Call) -> None:
        self._group = group
        self._call = call
        self._missing: dict[object, OffsetDeleteResponseTopic] = {}
        self._found: list[OffsetDeleteResponseTopic] = []
        self.deleted: list[tuple[str, int]] = []

    def add(self, requested: OffsetDeleteRequestTopic) -> None:
        topic = self._call.broker.catalog.topic(requested.name)
        count = 0 if topic is None else len(topic.partition_ids)
        subscribed = self._group.subscribes(requested.name)
        found = OffsetDeleteResponseTopic(name=requested.name)
        for one in requested.partitions:
            index = one.partition_index
            if not 0 <= index < count:
                missing = self._missing.setdefault(
                    requested.name, OffsetDeleteResponseTopic(name=requested.name)
                )
                missing.partitions.append(self._refused(index, UnknownTopicOrPartition()))
            elif subscribed:
                found.partitions.append(self._refused(index, GroupSubscribedToTopic()))
            else:
                found.partitions.append(
                    OffsetDeleteResponsePartition(partition_index=index, error_code=0)
                )
                self.deleted.append((requested.name, index))
        if found.partitions:
            self._found.append(found)

    def _refused(self, index: int, error: BrokerError) -> OffsetDeleteResponsePartition:
        return OffsetDeleteResponsePartition(
            partition_index=index, error_code=self._call.code(error)
        )

    def committed(self, failure: StorageFailed | None) -> OffsetDeleteResponse:
        if failure is not None:
            return OffsetDeleteResponse(error_code=self._call.code(CoordinatorNotAvailable()))
        return OffsetDeleteResponse(
            topics=merged(self._missing, self._found, lambda topic: topic.name)
        )
