"""TxnOffsetCommit (key 28), versions 0-5 (KIP-98).

2  leader epoch (KIP-320)          4  TRANSACTION_ABORTABLE (KIP-890)
3  members of groups are fenced    5  adds the group to the transaction (KIP-890)
   (KIP-447), flexible

Stale epochs and unknown groups are ILLEGAL_GENERATION in all versions, as in Kafka.
"""

from __future__ import annotations

from contextlib import suppress

from application.groups.offset_commit import OffsetCommit
from application.ports.pending import Pending
from application.transactions.coordinator import SupportedOperation
from domain.errors import ConcurrentTransactions, InvalidGroupId, InvalidRequest, StorageFailed
from domain.transactions.transaction import ProducerIdAndEpoch
from interfaces.kafka.handlers.shared.offset_commits import CommittedTopics
from interfaces.kafka.handlers.shared.transactions import reads_elsewhere
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

FIRST_WITH_ABORTABLE = 4
FIRST_THAT_ADDS_GROUPS = 5

EXPECTED = (ConcurrentTransactions,)


def handle(request: TxnOffsetCommitRequest, call: Call) -> TxnOffsetCommitResponse | None:
    groups = call.broker.groups
    producer = ProducerIdAndEpoch(request.producer_id, request.producer_epoch)
    commit = OffsetCommit(
        request.group_id, request.member_id, request.group_instance_id, request.generation_id
    )

    read = reads_elsewhere(call, request.transactional_id)
    if read is not None:
        # Before the first effect: this may raise NotInMemory, and the request runs again then.
        with suppress(StorageFailed):
            read(request.producer_id)

    def check() -> None:
        if not request.group_id:
            raise InvalidGroupId("The group id is empty.")
        if not request.transactional_id:
            raise InvalidRequest("The transactional id is empty.")
        groups.offset_commit.begin(commit)
        call.broker.transactions.coordinator.admit_offsets(
            request.transactional_id, producer, request.group_id, _operation(call.version), read
        )
        groups.transactional_offsets.check(commit)

    call.topics = len(request.topics)
    response = CommittedTopics(commit, call, check, _topic, TxnOffsetCommitResponsePartition)
    for topic in request.topics:
        response.add(topic)
    if not commit.writes:
        return TxnOffsetCommitResponse(topics=response.topics())
    pending: Pending[StorageFailed | None] = Pending()
    groups.transactional_offsets.add(
        request.group_id, request.producer_id, commit.writes, pending.resolve
    )
    call.respond_later(
        pending, lambda failure: TxnOffsetCommitResponse(topics=response.committed(failure))
    )
    return None


def _operation(version: int) -> SupportedOperation:
    if version >= FIRST_THAT_ADDS_GROUPS:
        return SupportedOperation.ADD_PARTITION
    if version >= FIRST_WITH_ABORTABLE:
        return SupportedOperation.GENERIC_ERROR_SUPPORTED
    return SupportedOperation.DEFAULT_ERROR


def _topic(requested: TxnOffsetCommitRequestTopic) -> TxnOffsetCommitResponseTopic:
    return TxnOffsetCommitResponseTopic(name=requested.name)
