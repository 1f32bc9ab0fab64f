"""OffsetCommit (key 8), versions 2-10.

2  retention time, until 4      7  static members (KIP-345)     10  topics by id (KIP-848)
6  leader epoch (KIP-320)       8  flexible
9  members of consumer groups (KIP-848): stale epochs are 113, unknown groups 69
"""

from __future__ import annotations

from application.groups.offset_commit import OffsetCommit
from application.ports.pending import Pending
from domain.errors import StorageFailed
from interfaces.kafka.handlers.shared.offset_commits import CommittedTopics
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

FIRST_FOR_EPOCHS = 9
FIRST_BY_ID = 10


def handle(request: OffsetCommitRequest, call: Call) -> OffsetCommitResponse | None:
    service = call.broker.groups.offset_commit
    commit = OffsetCommit(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
    )
    commit.knows_epochs = call.version >= FIRST_FOR_EPOCHS

    def check() -> None:
        service.begin(commit, request.retention_time_ms)
        service.check(commit)

    call.topics = len(request.topics)
    by_id = call.version >= FIRST_BY_ID
    response = CommittedTopics(commit, call, check, _topic, OffsetCommitResponsePartition, by_id)
    for topic in request.topics:
        response.add(topic)
    if not commit.writes:
        return OffsetCommitResponse(topics=response.topics())
    pending: Pending[StorageFailed | None] = Pending()
    service.persist(commit, pending.resolve)
    call.respond_later(
        pending, lambda failure: OffsetCommitResponse(topics=response.committed(failure))
    )
    return None


def _topic(requested: OffsetCommitRequestTopic) -> OffsetCommitResponseTopic:
    return OffsetCommitResponseTopic(name=requested.name, topic_id=requested.topic_id)
