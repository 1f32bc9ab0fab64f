"""OffsetFetch (key 9), versions 1-10.

2  null topics mean all; top-level error              8  several groups (KIP-709)
5  leader epoch (KIP-320)                             9  member id and epoch (KIP-848)
6  flexible                                          10  topics by id (KIP-848)
7  require stable (KIP-447): 88 where a transaction has an offset, until it ends

Without a committed offset the offset is -1, also for an unknown group, topic or partition. Only an
unknown topic id is an error.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from application.groups.offsets import GroupOffsets
from domain.errors import (
    BrokerError,
    InvalidRequest,
    TopicAuthorizationFailed,
    UnknownTopicId,
    UnstableOffsetCommit,
)
from domain.groups.group import NO_EPOCH
from domain.security.access import Operation, ResourceType
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

FIRST_WITH_GROUPS = 8
FIRST_BY_ID = 10

NOT_COMMITTED = -1

FAILED = {"committed_offset": NOT_COMMITTED, "committed_leader_epoch": -1}

#: Lower bound of the response size limit, however small fetch.max.bytes is.
RESPONSE_BYTES = 16 << 20
#: Estimated size of a partition in the response, without its metadata.
PARTITION_BYTES = 256

Partition = TypeVar("Partition", OffsetFetchResponsePartition, OffsetFetchResponsePartitions)


def handle(request: OffsetFetchRequest, call: Call) -> OffsetFetchResponse:
    if call.version >= FIRST_WITH_GROUPS:
        return _groups(request, call)
    stable = request.require_stable
    fetched = _Fetched(request.group_id, None, NO_EPOCH, stable, _SizeLimit(call), call)
    offsets = fetched.offsets()
    requested = (
        [(name, offsets[name]) for name in _describable(offsets, call)]
        if request.topics is None
        else [(topic.name, topic.partition_indexes) for topic in request.topics]
    )
    call.topics = len(requested)
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name=name,
                partitions=(
                    fetched.partitions(OffsetFetchResponsePartition, name, indexes)
                    if request.topics is None or _may_describe(name, call)
                    else _refused(
                        OffsetFetchResponsePartition, indexes, TopicAuthorizationFailed(), call
                    )
                ),
            )
            for name, indexes in requested
        ]
    )


def _may_describe(name: str, call: Call) -> bool:
    return call.requires(Operation.DESCRIBE, ResourceType.TOPIC, name)


def _describable(offsets: GroupOffsets, call: Call) -> list[str]:
    """A request for all topics gets those that the client may describe."""
    return [name for name in offsets if call.allows(Operation.DESCRIBE, ResourceType.TOPIC, name)]


def _groups(request: OffsetFetchRequest, call: Call) -> OffsetFetchResponse:
    limit = _SizeLimit(call)
    groups = []
    for group in request.groups:
        fetched = _Fetched(
            group.group_id,
            group.member_id,
            group.member_epoch,
            request.require_stable,
            limit,
            call,
        )
        try:
            topics = _topics(group, fetched, call)
        except BrokerError as refused:
            groups.append(
                OffsetFetchResponseGroup(group_id=group.group_id, error_code=call.code(refused))
            )
            continue
        call.topics += len(topics)
        groups.append(OffsetFetchResponseGroup(group_id=group.group_id, topics=topics))
    return OffsetFetchResponse(groups=groups)


class _SizeLimit:
    """Bounds the response: a request may name one group with large offsets many times."""

    __slots__ = ("_left",)

    def __init__(self, call: Call) -> None:
        self._left = max(call.broker.config.fetch_max_bytes, RESPONSE_BYTES)

    def take(self, size_bytes: int) -> None:
        self._left -= size_bytes
        if self._left < 0:
            raise InvalidRequest("The committed offsets do not fit into one response")


class _Fetched:
    """The committed offsets of one group, as partitions of the response."""

    __slots__ = ("_call", "_epoch", "_group_id", "_limit", "_member_id", "_offsets", "_stable")

    _offsets: GroupOffsets

    def __init__(
        self,
        group_id: str,
        member_id: str | None,
        epoch: int,
        stable: bool,
        limit: _SizeLimit,
        call: Call,
    ) -> None:
        self._group_id = group_id
        self._member_id = member_id
        self._epoch = epoch
        self._stable = stable
        self._limit = limit
        self._call = call

    def offsets(self) -> GroupOffsets:
        self._offsets = self._call.broker.groups.offset_fetch.offsets(
            self._group_id, self._member_id, self._epoch
        )
        return self._offsets

    def partitions(
        self, kind: type[Partition], topic: str, indexes: Collection[int]
    ) -> list[Partition]:
        committed = self._offsets.get(topic, {})
        self._limit.take(PARTITION_BYTES * len(indexes))
        responses = []
        for index in indexes:
            found = committed.get(index)
            if self._stable and self._is_pending(topic, index):
                responses.append(
                    _not_committed(kind, index, self._call.code(UnstableOffsetCommit()))
                )
            elif found is None:
                responses.append(_not_committed(kind, index, 0))
            else:
                text = found.metadata
                if text:
                    self._limit.take(len(text) if text.isascii() else 4 * len(text))
                responses.append(kind(index, found.offset, found.leader_epoch, text))
        return responses

    def _is_pending(self, topic: str, index: int) -> bool:
        offsets = self._call.broker.groups.transactional_offsets
        return offsets.is_pending(self._group_id, topic, index)


def _topics(
    group: OffsetFetchRequestGroup, fetched: _Fetched, call: Call
) -> list[OffsetFetchResponseTopics]:
    offsets = fetched.offsets()
    topics: list[OffsetFetchResponseTopics] = []
    by_id = call.version >= FIRST_BY_ID
    if group.topics is None:
        for name in _describable(offsets, call):
            partitions = offsets[name]
            response = OffsetFetchResponseTopics(name=name)
            if by_id:
                topic = call.broker.catalog.topic(name)
                if topic is None:
                    continue
                response.topic_id = topic.topic_id
            response.partitions = fetched.partitions(
                OffsetFetchResponsePartitions, name, partitions
            )
            topics.append(response)
        return topics
    for requested in group.topics:
        response = OffsetFetchResponseTopics(name=requested.name, topic_id=requested.topic_id)
        topics.append(response)
        name = requested.name
        if by_id:
            topic = call.broker.catalog.topic_by_id(requested.topic_id)
            if topic is None:
                response.partitions = _refused(
                    OffsetFetchResponsePartitions,
                    requested.partition_indexes,
                    UnknownTopicId(),
                    call,
                )
                continue
            name = topic.name
        if not _may_describe(name, call):
            response.partitions = _refused(
                OffsetFetchResponsePartitions,
                requested.partition_indexes,
                TopicAuthorizationFailed(),
                call,
            )
            continue
        response.partitions = fetched.partitions(
            OffsetFetchResponsePartitions, name, requested.partition_indexes
        )
    return topics


def _refused(
    kind: type[Partition], indexes: Collection[int], error: BrokerError, call: Call
) -> list[Partition]:
    code = call.code(error)
    return [_not_committed(kind, index, code) for index in indexes]


def _not_committed(kind: type[Partition], index: int, code: int) -> Partition:
    return kind(
        partition_index=index,
        committed_offset=NOT_COMMITTED,
        committed_leader_epoch=-1,
        metadata="",
        error_code=code,
    )
