"""OffsetCommit (key 8), versions 2-10.

2  retention time, until 4      7  static members (KIP-345)     10  topics by id (KIP-848)
6  leader epoch (KIP-320)       8  flexible
9  members of consumer groups (KIP-848): stale epochs are 113, unknown groups 69

Unknown partitions are first in the response, as in Kafka; an error of the group is the error of
each other partition.
"""

from __future__ import annotations

from application.groups.offset_commit import OffsetCommit
from application.ports.pending import Pending
from domain.errors import (
    BrokerError,
    CoordinatorNotAvailable,
    StorageFailed,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from domain.topics.topic import Topic
from interfaces.kafka.handlers.shared.merged_topics import merged
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

FIRST_FOR_EPOCHS = 9
FIRST_BY_ID = 10


def handle(request: OffsetCommitRequest, call: Call) -> OffsetCommitResponse | None:
    commit = OffsetCommit(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
    )
    commit.knows_epochs = call.version >= FIRST_FOR_EPOCHS
    call.topics = len(request.topics)
    response = _Response(commit, request.retention_time_ms, call)
    for topic in request.topics:
        response.add(topic)
    if not commit.writes:
        return response.response()
    pending: Pending[StorageFailed | None] = Pending()
    call.broker.groups.offset_commit.persist(commit, pending.resolve)
    call.respond_later(pending, response.committed)
    return None


class _Response:
    """The response of a request, which is complete after the commit."""

    __slots__ = ("_call", "_commit", "_known", "_refusal", "_retention", "_unknown")

    def __init__(self, commit: OffsetCommit, retention_time_ms: int, call: Call) -> None:
        self._commit = commit
        self._retention = retention_time_ms
        self._call = call
        self._known: list[OffsetCommitResponseTopic] = []
        self._unknown: dict[object, OffsetCommitResponseTopic] = {}
        #: The error code of the group, or 0; None until it is checked.
        self._refusal: int | None = None

    def add(self, requested: OffsetCommitRequestTopic) -> None:
        catalog = self._call.broker.catalog
        if self._call.version >= FIRST_BY_ID:
            topic = catalog.topic_by_id(requested.topic_id)
        else:
            topic = catalog.topic(requested.name)
        if topic is None:
            missing = (
                UnknownTopicId if self._call.version >= FIRST_BY_ID else UnknownTopicOrPartition
            )
            for one in requested.partitions:
                self._refuse(requested, one.partition_index, missing())
            return
        count = len(topic.partition_ids)
        existing = [one for one in requested.partitions if 0 <= one.partition_index < count]
        if len(existing) < len(requested.partitions):
            for one in requested.partitions:
                if not 0 <= one.partition_index < count:
                    self._refuse(requested, one.partition_index, UnknownTopicOrPartition())
        if existing:
            self._known.append(
                OffsetCommitResponseTopic(
                    name=requested.name,
                    topic_id=requested.topic_id,
                    partitions=self._partitions(existing, topic),
                )
            )

    def _partitions(
        self, existing: list[OffsetCommitRequestPartition], topic: Topic
    ) -> list[OffsetCommitResponsePartition]:
        code = self._refusal
        if code is None:
            code = self._group_refusal()
        results = [OffsetCommitResponsePartition(one.partition_index, code) for one in existing]
        if not code:
            for place, refused in self._call.broker.groups.offset_commit.add(
                self._commit, topic, existing
            ):
                results[place].error_code = self._call.code(refused)
        return results

    def _group_refusal(self) -> int:
        """Checks the group once, and only if there is something to commit."""
        service = self._call.broker.groups.offset_commit
        try:
            service.begin(self._commit, self._retention)
            service.check(self._commit)
        except BrokerError as refused:
            self._refusal = self._call.code(refused)
        else:
            self._refusal = 0
        return self._refusal

    def _refuse(self, requested: OffsetCommitRequestTopic, index: int, error: BrokerError) -> None:
        key = self._key(requested)
        topic = self._unknown.get(key)
        if topic is None:
            topic = self._unknown[key] = OffsetCommitResponseTopic(
                name=requested.name, topic_id=requested.topic_id
            )
        topic.partitions.append(
            OffsetCommitResponsePartition(partition_index=index, error_code=self._call.code(error))
        )

    def committed(self, failure: StorageFailed | None) -> OffsetCommitResponse:
        if failure is not None:
            code = self._call.code(CoordinatorNotAvailable())
            for topic in self._known:
                for response in topic.partitions:
                    response.error_code = response.error_code or code
        return self.response()

    def response(self) -> OffsetCommitResponse:
        return OffsetCommitResponse(topics=merged(self._unknown, self._known, self._key))

    def _key(self, topic: OffsetCommitRequestTopic | OffsetCommitResponseTopic) -> object:
        return topic.topic_id if self._call.version >= FIRST_BY_ID else topic.name
