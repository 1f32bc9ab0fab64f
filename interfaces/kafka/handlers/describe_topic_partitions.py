"""DescribeTopicPartitions (key 75), version 0 (KIP-966).

Topics are sorted by name; the cursor is the first partition that did not fit. An empty list of
topics means all topics that the client may describe. A response has at most
`max.request.partition.size.limit` partitions.
"""

from __future__ import annotations

from application.cluster.replicas import ReplicasOf
from application.topics.metadata import unknown_topic_error
from domain.errors import BrokerError, InvalidRequest, TopicAuthorizationFailed
from domain.security.access import Operation, ResourceType
from domain.topics.topic import INTERNAL_TOPICS, Topic
from interfaces.kafka.handlers.shared.authorized_operations import may_describe, topic_operations
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)


def handle(request: DescribeTopicPartitionsRequest, call: Call) -> DescribeTopicPartitionsResponse:
    catalog = call.broker.catalog
    call.topics = len(request.topics)
    cursor = request.cursor
    if cursor is not None:
        _check_cursor(request, cursor)
    requested = {topic.name for topic in request.topics}
    names = sorted(name for name in requested or catalog.names() if may_describe(name, call))
    room = min(
        request.response_partition_limit, call.broker.config.max_request_partition_size_limit
    )
    room = max(room, 1)
    response = DescribeTopicPartitionsResponse()
    for name in names:
        if cursor is not None and name < cursor.topic_name:
            continue
        first = cursor.partition_index if cursor is not None and name == cursor.topic_name else 0
        if room <= 0:
            response.next_cursor = Cursor(topic_name=name, partition_index=first)
            break
        topic = catalog.topic(name)
        if topic is None:
            response.topics.append(_refused(name, unknown_topic_error(name), call))
            continue
        end = min(len(topic.partition_ids), first + room)
        response.topics.append(_topic(topic, first, end, call))
        room -= max(end - first, 0)
        if end < len(topic.partition_ids):
            response.next_cursor = Cursor(topic_name=name, partition_index=end)
            break
    for name in sorted(requested.difference(names)):
        call.requires(Operation.DESCRIBE, ResourceType.TOPIC, name)
        response.topics.append(
            DescribeTopicPartitionsResponseTopic(
                error_code=call.code(TopicAuthorizationFailed()), name=name
            )
        )
    return response


def _topic(topic: Topic, first: int, end: int, call: Call) -> DescribeTopicPartitionsResponseTopic:
    described = map(ReplicasOf(call.broker.placement), topic.partition_ids[first:end])
    return DescribeTopicPartitionsResponseTopic(
        error_code=0,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                error_code=0,
                partition_index=index,
                leader_id=one.leader_id,
                leader_epoch=one.leader_epoch,
                replica_nodes=one.replicas,
                isr_nodes=one.in_sync,
                eligible_leader_replicas=[],
                last_known_elr=[],
                offline_replicas=one.offline,
            )
            for index, one in enumerate(described, first)
        ],
        topic_authorized_operations=topic_operations(topic.name, True, call),
    )


def _refused(name: str, error: BrokerError, call: Call) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=call.code(error),
        name=name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=topic_operations(name, True, call),
    )


def _check_cursor(request: DescribeTopicPartitionsRequest, cursor: Cursor) -> None:
    if cursor.partition_index < 0:
        raise InvalidRequest("The cursor's partition is negative.")
    if request.topics and all(topic.name != cursor.topic_name for topic in request.topics):
        raise InvalidRequest(f"The cursor's topic {cursor.topic_name} is not in the request.")
