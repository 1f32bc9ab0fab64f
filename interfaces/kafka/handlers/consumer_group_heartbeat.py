"""ConsumerGroupHeartbeat (key 68), versions 0-1.

 0  a member joins, heartbeats, acknowledges revoked partitions and leaves by this request
 (KIP-848);
    the broker generates its id
 1  subscription by regular expression; the member generates its id (KIP-1082)

Member epoch 0 joins, -1 leaves, -2 is a static member that leaves and will rejoin. An error
response has no other fields than the error and its message.
"""

from __future__ import annotations

from application.ports.pending import Pending
from domain.errors import BrokerError
from domain.groups.consumer.assignors.assignor import Partitions
from domain.groups.consumer.heartbeat import HeartbeatResult
from domain.groups.consumer.heartbeat_request import Heartbeat
from domain.groups.consumer.member import JOINS
from interfaces.kafka.handlers.shared.group_member import client_host
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from interfaces.kafka.wire.schema import Response

FIRST_WITH_MEMBER_IDS = 1


def handle(request: ConsumerGroupHeartbeatRequest, call: Call) -> Response | None:
    result = call.broker.groups.coordinator.consumer_group_heartbeat(
        request.group_id,
        _heartbeat(request, call),
        members_make_ids=call.version >= FIRST_WITH_MEMBER_IDS,
    )
    if isinstance(result, Pending):
        call.respond_later(result, lambda late: _response(late, request, call))
        return None
    return _response(result, request, call)


def _heartbeat(request: ConsumerGroupHeartbeatRequest, call: Call) -> Heartbeat:
    names, owned = request.subscribed_topic_names, request.topic_partitions
    return Heartbeat(
        request.member_id,
        request.member_epoch,
        request.instance_id,
        request.rack_id,
        request.rebalance_timeout_ms,
        None if names is None else frozenset(names),
        request.subscribed_topic_regex,
        request.server_assignor,
        None if owned is None else _owned(owned),
        call.peer.client.client_id or "",
        client_host(call),
    )


def _owned(topics: list[TopicPartitions]) -> Partitions:
    owned: dict[bytes, frozenset[int]] = {}
    for one in topics:
        owned[one.topic_id] = owned.get(one.topic_id, frozenset()) | frozenset(one.partitions)
    return owned


def _response(
    result: HeartbeatResult | BrokerError, request: ConsumerGroupHeartbeatRequest, call: Call
) -> Response:
    if isinstance(result, BrokerError):
        return call.refused(request, result)
    interval_ms = 0
    if request.member_epoch >= JOINS:
        interval_ms = call.broker.groups.configs.of(request.group_id).consumer_heartbeat_interval_ms
    return ConsumerGroupHeartbeatResponse(
        member_id=result.member_id,
        member_epoch=result.epoch,
        heartbeat_interval_ms=interval_ms,
        assignment=None if result.assignment is None else _assignment(result.assignment),
    )


def _assignment(partitions: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=sorted(partitions[topic_id]))
            for topic_id in sorted(partitions)
        ]
    )
