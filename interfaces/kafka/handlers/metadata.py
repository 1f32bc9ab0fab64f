"""Metadata (key 3), versions 0-13.

 0  an empty list means all topics           8  authorized operations (KIP-430)
 1  null means all, an empty list none       9  flexible
 4  the client may forbid auto-creation     10  topic ids (KIP-516)
 7  leader epochs (KIP-320)                 12  topics by id alone

An auto-created topic is in the response, which is sent after the commit; Kafka responds first that
it is unknown, and the client retries. Kafka's internal topics are unknown and not created. A topic
that the client may not describe or create is refused; in the list of all topics it is omitted.
"""

from __future__ import annotations

from collections.abc import Sequence

from application.cluster.replicas import ReplicasOf
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

NO_NODE = NO_LEADER.node_id

#: Cached responses: they differ by the advertised address, of which there are few, and with an
#: authorizer by the client's identity.
MAX_CACHED = 16


def handle(request: MetadataRequest, call: Call) -> MetadataResponse | None:
    metadata = call.broker.topics.metadata
    requested = request.topics
    if requested is None and call.version == 0:
        raise CloseConnection("malformed_request", "null topics in Metadata version 0")
    call.topics = len(requested or ())
    if requested is None or (not requested and call.version == 0):
        return _all_topics(request, call)
    if any(topic.name is None or topic.topic_id != NO_TOPIC_ID for topic in requested):
        return _response(_by_id(request, call), request, call)
    names = dict.fromkeys(topic.name for topic in requested if topic.name is not None)
    allowed = [name for name in names if _is_allowed(name, request, call)]
    refused = [_not_allowed(name, NO_TOPIC_ID) for name in sorted(names.keys() - set(allowed))]
    found = metadata.topics(allowed, request.allow_auto_topic_creation, call.requester)
    if isinstance(found, Pending):
        call.respond_later(found, lambda topics: _response(topics + refused, request, call))
        return None
    return _response(found + refused, request, call)


def _is_allowed(name: str, request: MetadataRequest, call: Call) -> bool:
    """Auto-creation needs Create in addition to Describe, as in Kafka."""
    creates = request.allow_auto_topic_creation and call.broker.config.auto_create_topics_enable
    return call.requires(Operation.DESCRIBE, ResourceType.TOPIC, name) and (
        not creates
        or call.broker.catalog.topic(name) is not None
        or call.requires(Operation.CREATE, ResourceType.TOPIC, name)
    )


def _not_allowed(name: str | None, topic_id: bytes) -> Described:
    return UnknownTopic(name, topic_id, TopicAuthorizationFailed())


def _all_topics(request: MetadataRequest, call: Call) -> MetadataResponse | None:
    """The response is cached until topics, nodes or leaders change: partitions may be thousands.

    Without a lease it is not cached: its errors are counted.
    """
    all_topics = call.broker.topics.metadata.all_topics
    cached = call.route.cached_responses
    has_lease = call.broker.placement.has_lease
    if cached is None or not has_lease or not call.broker.quotas.unlimited:
        topics = [topic for topic in all_topics() if may_describe(topic.name, call)]
        return _response(topics, request, call)
    peer = call.peer
    key = (
        peer.advertised,
        request.include_topic_authorized_operations,
        request.include_cluster_authorized_operations,
        call.identity,
    )
    revision = call.broker.catalog.revision
    found = cached.get(key)
    if found is None or found[0] != revision:
        if len(cached) >= MAX_CACHED:
            cached.clear()
        topics = [topic for topic in all_topics() if may_describe(topic.name, call)]
        found = cached[key] = revision, call.route.encode(_response(topics, request, call))
    call.respond_encoded(found[1])
    return None


def _by_id(request: MetadataRequest, call: Call) -> list[Described]:
    if call.version < FIRST_BY_ID:
        error = InvalidRequest(f"Topic ids are not supported in version {call.version}")
        return [UnknownTopic(t.name or "", t.topic_id, error) for t in request.topics or ()]
    requested = dict.fromkeys(topic.topic_id for topic in request.topics or ())
    if len(requested) > 1:
        requested.pop(NO_TOPIC_ID, None)  # as Kafka: beside ids, names are ignored
    found = [call.broker.topics.metadata.topic_by_id(topic_id) for topic_id in requested]
    return [
        _not_allowed(None, one.topic_id)
        if isinstance(one, Topic)
        and not call.requires(Operation.DESCRIBE, ResourceType.TOPIC, one.name)
        else one
        for one in found
    ]


def _response(
    topics: Sequence[Described], request: MetadataRequest, call: Call
) -> MetadataResponse:
    placement = call.broker.placement
    replicas_of = ReplicasOf(placement)
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=node.node_id, host=host, port=port, rack=node.rack)
            for node, (host, port) in nodes_for(call)
        ],
        cluster_id=call.broker.cluster_id,
        controller_id=call.broker.cluster.controller_id,
        topics=[
            _topic(topic, request, replicas_of, call)
            if isinstance(topic, Topic)
            else _unknown(topic, request, call)
            for topic in topics
        ],
        cluster_authorized_operations=cluster_operations(
            request.include_cluster_authorized_operations, call
        ),
    )


def _topic(
    topic: Topic, request: MetadataRequest, replicas_of: ReplicasOf, call: Call
) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=0,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            MetadataResponsePartition(
                error_code=call.code(LeaderNotAvailable()) if one.leader_id == NO_NODE else 0,
                partition_index=index,
                leader_id=one.leader_id,
                leader_epoch=one.leader_epoch,
                replica_nodes=one.replicas,
                isr_nodes=one.in_sync,
                offline_replicas=one.offline,
            )
            for index, one in enumerate(map(replicas_of, topic.partition_ids))
        ],
        topic_authorized_operations=topic_operations(
            topic.name, request.include_topic_authorized_operations, call
        ),
    )


def _unknown(topic: UnknownTopic, request: MetadataRequest, call: Call) -> MetadataResponseTopic:
    """As in Kafka, one that does not exist has operations, one that is refused has none."""
    name = topic.name
    has_operations = bool(name) and not isinstance(topic.error, TopicAuthorizationFailed)
    if name is None and call.version < FIRST_BY_ID:
        name = ""
    return MetadataResponseTopic(
        error_code=call.code(topic.error),
        name=name,
        topic_id=topic.topic_id,
        is_internal=name in INTERNAL_TOPICS and may_describe(name, call),
        topic_authorized_operations=topic_operations(
            name or "", has_operations and request.include_topic_authorized_operations, call
        ),
    )
