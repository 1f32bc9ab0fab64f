"""Metadata (key 3), versions 0-13.

 0  an empty list asks for all topics        8  authorized operations
 1  null asks for all, empty for none        9  flexible
 4  the client may forbid auto-creation     10  topic ids (KIP-516)
 7  leader epochs                           12  topics may be asked for by id alone

A topic that is created on the way is answered as soon as it is durable; Kafka first answers that
it is unknown and lets the client ask again. Kafka's internal topics are unknown and not created.
A topic that the client may not describe, or not create, is refused, and left out of all topics.
"""

from __future__ import annotations

from collections.abc import Sequence

from application.ports.pending import Pending
from application.topics.metadata import Described, UnknownTopic
from domain.cluster.nodes import NO_LEADER
from domain.errors import InvalidRequest, LeaderNotAvailable, TopicAuthorizationFailed
from domain.security.access import Operation, ResourceType
from domain.topics.topic import INTERNAL_TOPICS, NO_TOPIC_ID, Topic
from interfaces.kafka.handlers.shared.authorized_operations import (
    cluster_operations,
    may_describe,
    topic_operations,
)
from interfaces.kafka.handlers.shared.nodes import nodes_for
from interfaces.kafka.requests.call import Call, CloseConnection
from interfaces.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

FIRST_BY_ID = 12

#: Clients that were told different addresses get different answers; there are few of those.
MAX_CACHED = 16


def handle(request: MetadataRequest, call: Call) -> MetadataResponse | None:
    metadata = call.broker.topics.metadata
    wanted = request.topics
    if wanted is None and call.version == 0:
        raise CloseConnection("malformed_request", "null topics in Metadata version 0")
    call.topics = len(wanted or ())
    if wanted is None or (not wanted and call.version == 0):
        return _all_topics(request, call)
    if any(topic.name is None or topic.topic_id != NO_TOPIC_ID for topic in wanted):
        return _response(_by_id(request, call), request, call)
    names = dict.fromkeys(topic.name for topic in wanted if topic.name is not None)
    allowed = [name for name in names if _is_allowed(name, request, call)]
    refused = [_not_allowed(name, NO_TOPIC_ID) for name in sorted(names.keys() - set(allowed))]
    found = metadata.topics(allowed, request.allow_auto_topic_creation, call.requester)
    if isinstance(found, Pending):
        call.respond_later(found, lambda topics: _response(topics + refused, request, call))
        return None
    return _response(found + refused, request, call)


def _is_allowed(name: str, request: MetadataRequest, call: Call) -> bool:
    """A topic that would be created needs Create beside Describe, as in Kafka."""
    creates = request.allow_auto_topic_creation and call.broker.config.auto_create_topics_enable
    return may_describe(name, call) and (
        not creates
        or call.broker.catalog.topic(name) is not None
        or call.allows(Operation.CREATE, ResourceType.TOPIC, name)
    )


def _not_allowed(name: str | None, topic_id: bytes) -> Described:
    return UnknownTopic(name, topic_id, TopicAuthorizationFailed())


def _all_topics(request: MetadataRequest, call: Call) -> MetadataResponse | None:
    """Encoded once for each change of topics, nodes and leaders: partitions may be thousands."""
    all_topics = call.broker.topics.metadata.all_topics
    cached = call.route.cached_responses
    if cached is None:
        topics = [topic for topic in all_topics() if may_describe(topic.name, call)]
        return _response(topics, request, call)
    peer = call.peer
    asked = (
        peer.advertised_host,
        peer.advertised_port,
        request.include_topic_authorized_operations,
        request.include_cluster_authorized_operations,
    )
    revision = call.broker.catalog.revision
    found = cached.get(asked)
    if found is None or found[0] != revision:
        if len(cached) >= MAX_CACHED:
            cached.clear()
        found = cached[asked] = revision, call.route.encode(_response(all_topics(), request, call))
    call.respond_encoded(found[1])
    return None


def _by_id(request: MetadataRequest, call: Call) -> list[Described]:
    if call.version < FIRST_BY_ID:
        error = InvalidRequest(f"Topic ids are not supported in version {call.version}")
        return [UnknownTopic(t.name or "", t.topic_id, error) for t in request.topics or ()]
    wanted = dict.fromkeys(topic.topic_id for topic in request.topics or ())
    if len(wanted) > 1:
        wanted.pop(NO_TOPIC_ID, None)  # beside ids, names are not looked at
    found = [call.broker.topics.metadata.topic_by_id(topic_id) for topic_id in wanted]
    return [
        _not_allowed(None, one.topic_id)
        if isinstance(one, Topic) and not may_describe(one.name, call)
        else one
        for one in found
    ]


def _response(
    topics: Sequence[Described], request: MetadataRequest, call: Call
) -> MetadataResponse:
    placement = call.broker.placement
    alive = {node.node_id for node in placement.nodes()}
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=node.node_id, host=host, port=port, rack=node.rack)
            for node, (host, port) in nodes_for(call)
        ],
        cluster_id=call.broker.cluster_id,
        controller_id=placement.node_id,
        topics=[
            _topic(topic, request, alive, call)
            if isinstance(topic, Topic)
            else _unknown(topic, call)
            for topic in topics
        ],
        cluster_authorized_operations=cluster_operations(
            request.include_cluster_authorized_operations, call
        ),
    )


def _topic(
    topic: Topic, request: MetadataRequest, alive: set[int], call: Call
) -> MetadataResponseTopic:
    leaders = map(call.broker.placement.leader, topic.partition_ids)
    return MetadataResponseTopic(
        error_code=0,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            MetadataResponsePartition(
                error_code=0 if node_id in alive else call.code(LeaderNotAvailable()),
                partition_index=index,
                leader_id=node_id if node_id in alive else NO_LEADER.node_id,
                leader_epoch=epoch,
                replica_nodes=[node_id],
                isr_nodes=[node_id],
                offline_replicas=[] if node_id in alive else [node_id],
            )
            for index, (node_id, epoch) in enumerate(leaders)
        ],
        topic_authorized_operations=topic_operations(
            topic.name, request.include_topic_authorized_operations, call
        ),
    )


def _unknown(topic: UnknownTopic, call: Call) -> MetadataResponseTopic:
    name = topic.name
    if name is None and call.version < FIRST_BY_ID:
        name = ""
    return MetadataResponseTopic(
        error_code=call.code(topic.error),
        name=name,
        topic_id=topic.topic_id,
        is_internal=name in INTERNAL_TOPICS,
    )
