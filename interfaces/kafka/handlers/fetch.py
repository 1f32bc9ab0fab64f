"""Fetch (key 1), versions 4-18.

 4  isolation level, last stable offset    12  flexible; last fetched, diverging epoch
 5  log start offset                       13  topics by id (KIP-516)
 7  fetch sessions (KIP-227)               15  replica state in a tagged field
 9  leader epoch of the client (KIP-320)   16  the current leader and its address (KIP-951)
11  rack, preferred read replica (KIP-392) 17, 18  for followers

A throttled response has no partitions; the client fetches the same offsets again.
`records` is never null: librdkafka fails to parse a null.
"""

from __future__ import annotations

from typing import cast

from application.partitions.fetch_query import FetchedPartition, FetchItem, FetchQuery
from application.partitions.fetch_sessions import FetchContext, ItemKey
from application.ports.pending import Pending
from domain.errors import BrokerError, NotLeaderOrFollower, TopicAuthorizationFailed
from domain.partitions.leader_epochs import NO_EPOCH
from domain.security.access import Operation, ResourceType
from interfaces.kafka.handlers.shared.nodes import add_endpoint
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)

FIRST_WITH_TOPIC_IDS = 13
FIRST_WITH_ENDPOINTS = 16
READ_COMMITTED = 1

#: For versions without a top-level error.
FAILED = {"high_watermark": -1}


def handle(request: FetchRequest, call: Call) -> FetchResponse | None:
    broker = call.broker
    call.topics = len(request.topics)
    by_id = call.version >= FIRST_WITH_TOPIC_IDS
    context = broker.messages.fetch_sessions.begin(
        request.session_id,
        request.session_epoch,
        _items(request, by_id),
        _forgotten(request, by_id),
        by_id,
    )
    read_committed = request.isolation_level == READ_COMMITTED
    items: list[FetchItem] = context.items
    refused: list[FetchedPartition] = []
    if not broker.authorizer.allows_everything:
        items, refused = _readable(items, call)
    most_bytes = request.max_bytes
    if not broker.quotas.unlimited:
        most_bytes = min(most_bytes, call.most_fetched_bytes())
    fetched = broker.messages.fetch.fetch(
        FetchQuery(
            items,
            request.max_wait_ms,
            min(request.min_bytes, most_bytes),
            most_bytes,
            read_committed,
            request.rack_id,
            call.peer.client.connection_id,
        )
    )
    if isinstance(fetched, Pending):
        call.respond_later(
            fetched, lambda late: _response(late + refused, context, read_committed, call)
        )
        return None
    return _response(fetched + refused, context, read_committed, call)


def _readable(items: list[FetchItem], call: Call) -> tuple[list[FetchItem], list[FetchedPartition]]:
    """Those of a session too: their rights may have changed since the last request."""
    readable = []
    refused = []
    for item in items:
        name = item.topic_name
        if name is None:
            name = call.broker.catalog.name_of(item.topic_id)
        if name is None or call.requires(Operation.READ, ResourceType.TOPIC, name):
            readable.append(item)
        else:
            refused.append(FetchedPartition(item, TopicAuthorizationFailed()))
    return readable, refused


def _items(request: FetchRequest, by_id: bool) -> list[FetchItem]:
    return [
        FetchItem(
            None if by_id else topic.topic,
            topic.topic_id,
            requested.partition,
            requested.fetch_offset,
            requested.partition_max_bytes,
            max(requested.current_leader_epoch, NO_EPOCH),  # unlike those of ListOffsets
            requested.last_fetched_epoch,
        )
        for topic in request.topics
        for requested in topic.partitions
    ]


def _forgotten(request: FetchRequest, by_id: bool) -> list[ItemKey]:
    return [
        (topic.topic_id if by_id else topic.topic, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    ]


def _response(
    fetched: list[FetchedPartition], context: FetchContext, read_committed: bool, call: Call
) -> FetchResponse:
    broker = call.broker
    if not broker.quotas.unlimited:
        fetched_bytes = sum(len(one.records) for one in fetched)
        if call.throttle(fetched_bytes):
            return FetchResponse(session_id=broker.messages.fetch_sessions.throttled(context))
    response = FetchResponse(session_id=context.session_id)
    last_topic = None
    for one in context.choose(fetched):
        item = one.item
        topic = (item.topic_name, item.topic_id)
        if topic != last_topic:
            last_topic = topic
            found = FetchableTopicResponse(topic=item.topic_name or "", topic_id=item.topic_id)
            response.responses.append(found)
        found.partitions.append(_partition(one, read_committed, call))
        if isinstance(one.error, NotLeaderOrFollower) and call.version >= FIRST_WITH_ENDPOINTS:
            leader = one.error.leader
            found.partitions[-1].current_leader = LeaderIdAndEpoch(*leader)
            add_endpoint(response.node_endpoints, NodeEndpoint, leader.node_id, call)
    return response


def _partition(one: FetchedPartition, read_committed: bool, call: Call) -> PartitionData:
    return PartitionData(
        partition_index=one.item.index,
        error_code=0 if one.error is None else _code(one.error, one.item, call),
        high_watermark=one.high_watermark,
        last_stable_offset=one.last_stable_offset,
        log_start_offset=one.log_start_offset,
        diverging_epoch=None
        if one.diverging_epoch is None
        else EpochEndOffset(*one.diverging_epoch),
        # The encoder reads the two fields that both have: a copy of each costs as much as its row.
        aborted_transactions=cast(list[AbortedTransaction], one.aborted)
        if read_committed and one.error is None
        else None,
        preferred_read_replica=one.preferred_read_replica,
        records=one.records,
    )


def _code(error: BrokerError, item: FetchItem, call: Call) -> int:
    """A fetch in a session names no topic, so the log line names the first one that failed."""
    if call.log_subject is None:
        call.log_subject = "topic", item.topic_name or item.topic_id
    return call.code(error)
