"""OffsetDelete (key 47), version 0 (KIP-496).

What is not committed is as good as deleted. Partitions that are not there are refused first, and
stand first in the answer; a topic of which none was named is not in it.
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
    answer = _Answer(group, call)
    for topic in request.topics:
        answer.add(topic)
    pending: Pending[StorageFailed | None] = Pending()
    service.delete(group, answer.wanted, pending.resolve)
    call.respond_later(pending, answer.settled)


class _Answer:
    __slots__ = ("_call", "_found", "_group", "_missing", "wanted")

    def __init__(self, group: Group, call: Call) -> None:
        self._group = group
        self._call = call
        self._missing: dict[object, OffsetDeleteResponseTopic] = {}
        self._found: list[OffsetDeleteResponseTopic] = []
        #: What is to be deleted.
        self.wanted: list[tuple[str, int]] = []

    def add(self, asked: OffsetDeleteRequestTopic) -> None:
        topic = self._call.broker.catalog.topic(asked.name)
        count = 0 if topic is None else len(topic.partition_ids)
        subscribed = self._group.subscribes(asked.name)
        found = OffsetDeleteResponseTopic(name=asked.name)
        for one in asked.partitions:
            index = one.partition_index
            if not 0 <= index < count:
                missing = self._missing.setdefault(
                    asked.name, OffsetDeleteResponseTopic(name=asked.name)
                )
                missing.partitions.append(self._refused(index, UnknownTopicOrPartition()))
            elif subscribed:
                found.partitions.append(self._refused(index, GroupSubscribedToTopic()))
            else:
                found.partitions.append(
                    OffsetDeleteResponsePartition(partition_index=index, error_code=0)
                )
                self.wanted.append((asked.name, index))
        if found.partitions:
            self._found.append(found)

    def _refused(self, index: int, error: BrokerError) -> OffsetDeleteResponsePartition:
        return OffsetDeleteResponsePartition(
            partition_index=index, error_code=self._call.code(error)
        )

    def settled(self, failure: StorageFailed | None) -> OffsetDeleteResponse:
        if failure is not None:
            return OffsetDeleteResponse(error_code=self._call.code(CoordinatorNotAvailable()))
        return OffsetDeleteResponse(
            topics=merged(self._missing, self._found, lambda topic: topic.name)
        )
