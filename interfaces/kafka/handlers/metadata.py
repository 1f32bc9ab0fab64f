"""Metadata (key 3), versions 0-13.

 0  an empty list asks for all topics        8  authorized operations
 1  null asks for all, empty for none        9  flexible
 4  the client may forbid auto-creation     10  topic ids (KIP-516)
 7  leader epochs                           12  topics may be asked for by id alone

A topic that is created on the way is answered as soon as it is durable; Kafka first answers that
it is unknown and lets the client ask again. Kafka's internal topics are unknown and not created.
"""

from __future__ import annotations

from application.ports.pending import Pending
from application.topics.metadata import Described, UnknownTopic
from domain.cluster.nodes import NO_LEADER, Leader
from domain.errors import InvalidRequest, LeaderNotAvailable
from domain.topics.topic import INTERNAL_TOPICS, NO_TOPIC_ID, Topic
from interfaces.kafka.handlers.shared.authorized_operations import (
    cluster_operations,
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
MAX_KEPT = 16


def handle(request: MetadataRequest, call: Call) -> MetadataResponse | None:
    metadata = call.broker.topics.metadata
    wanted = request.topics
    if wanted is None and call.version == 0:
        raise CloseConnection("Metadata version 0 does not know null topics")
    call.topics = len(wanted or ())
    if wanted is None or (not wanted and call.version == 0):
        _respond_with_all(request, call)
        return None
    if any(topic.name is None or topic.topic_id != NO_TOPIC_ID for topic in wanted):
        return _response(_by_id(request, call), request, call)
    found = metadata.topics(
        [topic.name for topic in wanted if topic.name is not None],
        request.allow_auto_topic_creation,
    )
    if isinstance(found, Pending):
        call.respond_later(found, lambda topics: _response(topics, request, call))
        return None
    return _response(found, request, call)


def _respond_with_all(request: MetadataRequest, call: Call) -> None:
    """Encoded once for each change of topics, nodes and leaders: thousands of partitions take
    their time.
    """
    peer = call.peer
    asked = (
        peer.advertised_host,
        peer.advertised_port,
        request.include_topic_authorized_operations,
        request.include_cluster_authorized_operations,
    )
    revision = call.broker.catalog.revision, call.broker.placement.revision
    kept = call.route.kept
    found = None if kept is None else kept.get(asked)
    if found is None or found[0] != revision:
        everything = call.broker.topics.metadata.all_topics()
        found = revision, call.route.encode(_response(everything, request, call))
        if kept is not None:
            if len(kept) >= MAX_KEPT:
                kept.clear()
            kept[asked] = found
    call.respond_encoded(found[1])


def _by_id(request: MetadataRequest, call: Call) -> list[Described]:
    if call.version < FIRST_BY_ID:
        error = InvalidRequest(f"Topic ids are not supported in version {call.version}")
        return [UnknownTopic(t.name or "", t.topic_id, error) for t in request.topics or ()]
    wanted = dict.fromkeys(topic.topic_id for topic in request.topics or ())
    if len(wanted) > 1:
        wanted.pop(NO_TOPIC_ID, None)  # beside ids, names are not looked at
    return [call.broker.topics.metadata.topic_by_id(topic_id) for topic_id in wanted]


def _response(topics: list[Described], request: MetadataRequest, call: Call) -> MetadataResponse:
    placement = call.broker.placement
    alive = {node.node_id for node in placement.nodes()}
    operations = topic_operations(request.include_topic_authorized_operations)
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=node.node_id, host=host, port=port, rack=node.rack)
            for node, (host, port) in nodes_for(call)
        ],
        cluster_id=call.broker.cluster_id,
        controller_id=placement.node_id,
        topics=[
            _topic(topic, operations, alive, call)
            if isinstance(topic, Topic)
            else _unknown(topic, call)
            for topic in topics
        ],
        cluster_authorized_operations=cluster_operations(
            request.include_cluster_authorized_operations
        ),
    )


def _topic(topic: Topic, operations: int, alive: set[int], call: Call) -> MetadataResponseTopic:
    leaders = map(call.broker.placement.leader, topic.partition_ids)
    return MetadataResponseTopic(
        error_code=0,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            _partition(index, leader, leader.node_id in alive, call)
            for index, leader in enumerate(leaders)
        ],
        topic_authorized_operations=operations,
    )


def _partition(index: int, leader: Leader, is_alive: bool, call: Call) -> MetadataResponsePartition:
    node_id, epoch = leader
    return MetadataResponsePartition(
        error_code=0 if is_alive else call.code(LeaderNotAvailable()),
        partition_index=index,
        leader_id=node_id if is_alive else NO_LEADER.node_id,
        leader_epoch=epoch,
        replica_nodes=[node_id],
        isr_nodes=[node_id],
        offline_replicas=[] if is_alive else [node_id],
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


def failed(
    request: MetadataRequest, code: int, message: str | None, version: int
) -> MetadataResponse:
    return MetadataResponse(
        topics=[
            MetadataResponseTopic(
                error_code=code,
                name=topic.name if version >= FIRST_BY_ID else topic.name or "",
                topic_id=topic.topic_id,
            )
            for topic in request.topics or ()
        ],
        error_code=code,
    )
