"""OffsetCommit (key 8), versions 2-10.

2  retention time, until 4      7  static members (KIP-345)     10  topics by id (KIP-848)
6  leader epoch (KIP-320)       8  flexible
9  for members of consumer groups, which can be told of stale epochs; unknown groups are 69

Partitions that are not there are refused first, and stand first in the answer; what is wrong with
the group is said of every other one.
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
    answer = _Answer(commit, request.retention_time_ms, call)
    for topic in request.topics:
        answer.add(topic)
    if not commit.writes:
        return answer.response()
    pending: Pending[StorageFailed | None] = Pending()
    call.broker.groups.offset_commit.persist(commit, pending.resolve)
    call.respond_later(pending, answer.settled)
    return None


class _Answer:
    """What is said of each partition, and of which all hangs on the commit."""

    __slots__ = ("_call", "_commit", "_known", "_refusal", "_retention", "_unknown")

    def __init__(self, commit: OffsetCommit, retention_time_ms: int, call: Call) -> None:
        self._commit = commit
        self._retention = retention_time_ms
        self._call = call
        self._known: list[OffsetCommitResponseTopic] = []
        self._unknown: dict[object, OffsetCommitResponseTopic] = {}
        #: What is wrong with the group, once it was asked for: its code, or 0.
        self._refusal: int | None = None

    def add(self, wanted: OffsetCommitRequestTopic) -> None:
        catalog = self._call.broker.catalog
        if self._call.version >= FIRST_BY_ID:
            topic = catalog.topic_by_id(wanted.topic_id)
        else:
            topic = catalog.topic(wanted.name)
        if topic is None:
            missing = (
                UnknownTopicId if self._call.version >= FIRST_BY_ID else UnknownTopicOrPartition
            )
            for one in wanted.partitions:
                self._refuse(wanted, one.partition_index, missing())
            return
        count = len(topic.partition_ids)
        there = [one for one in wanted.partitions if 0 <= one.partition_index < count]
        if len(there) < len(wanted.partitions):
            for one in wanted.partitions:
                if not 0 <= one.partition_index < count:
                    self._refuse(wanted, one.partition_index, UnknownTopicOrPartition())
        if there:
            self._known.append(
                OffsetCommitResponseTopic(
                    name=wanted.name,
                    topic_id=wanted.topic_id,
                    partitions=self._partitions(there, topic),
                )
            )

    def _partitions(
        self, there: list[OffsetCommitRequestPartition], topic: Topic
    ) -> list[OffsetCommitResponsePartition]:
        code = self._refusal
        if code is None:
            code = self._group_refusal()
        answered = [OffsetCommitResponsePartition(one.partition_index, code) for one in there]
        if not code:
            for place, refused in self._call.broker.groups.offset_commit.add(
                self._commit, topic, there
            ):
                answered[place].error_code = self._call.code(refused)
        return answered

    def _group_refusal(self) -> int:
        """The group is asked once, and only where there is something to commit."""
        service = self._call.broker.groups.offset_commit
        try:
            service.begin(self._commit, self._retention)
            service.check(self._commit)
        except BrokerError as refused:
            self._refusal = self._call.code(refused)
        else:
            self._refusal = 0
        return self._refusal

    def _refuse(self, wanted: OffsetCommitRequestTopic, index: int, error: BrokerError) -> None:
        key = self._key(wanted)
        topic = self._unknown.get(key)
        if topic is None:
            topic = self._unknown[key] = OffsetCommitResponseTopic(
                name=wanted.name, topic_id=wanted.topic_id
            )
        topic.partitions.append(
            OffsetCommitResponsePartition(partition_index=index, error_code=self._call.code(error))
        )

    def settled(self, failure: StorageFailed | None) -> OffsetCommitResponse:
        if failure is not None:
            code = self._call.code(CoordinatorNotAvailable())
            for topic in self._known:
                for answer in topic.partitions:
                    answer.error_code = answer.error_code or code
        return self.response()

    def response(self) -> OffsetCommitResponse:
        return OffsetCommitResponse(topics=merged(self._unknown, self._known, self._key))

    def _key(self, topic: OffsetCommitRequestTopic | OffsetCommitResponseTopic) -> object:
        return topic.topic_id if self._call.version >= FIRST_BY_ID else topic.name
