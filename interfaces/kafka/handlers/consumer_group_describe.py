"""ConsumerGroupDescribe (key 69), versions 0-1.

 1  member type: 0 classic, 1 consumer

The error of an unknown or classic group is 69; admin clients then send DescribeGroups.
"""

from __future__ import annotations

from domain.errors import BrokerError, InvalidGroupId, TopicAuthorizationFailed
from domain.groups.consumer.assignors.assignor import Partitions
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.member import MemberSubscription
from domain.security.access import Operation, ResourceType
from interfaces.kafka.handlers.shared.authorized_operations import group_operations
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.error_codes import CODES
from interfaces.kafka.wire.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)

CLASSIC, CONSUMER = 0, 1
#: Kafka's message.
HIDDEN_TOPICS = "The group has described topic(s) that the client is not authorized to describe."


def handle(request: ConsumerGroupDescribeRequest, call: Call) -> ConsumerGroupDescribeResponse:
    with_operations = request.include_authorized_operations
    return ConsumerGroupDescribeResponse(
        groups=[_described(group_id, with_operations, call) for group_id in request.group_ids]
    )


def _described(group_id: str, with_operations: bool, call: Call) -> DescribedGroup:
    if not group_id:
        return DescribedGroup(group_id=group_id, error_code=call.code(InvalidGroupId()))
    try:
        call.broker.groups.offsets.check_coordinated(group_id)
        group = ConsumerGroup.existing(call.broker.groups.registry.find(group_id), group_id)
    except BrokerError as error:
        # Not a failure: Java's admin client tries both kinds of groups, one after the other.
        other_kind = call.broker.groups.registry.find(group_id) is not None
        code = CODES[type(error)] if other_kind else call.code(error)
        return DescribedGroup(
            group_id=group_id, error_code=code, error_message=error.message or None
        )
    members = [_member(group, group.members[one], call) for one in sorted(group.members)]
    if not call.broker.authorizer.allows_everything and not _may_describe_topics(members, call):
        return DescribedGroup(
            group_id=group_id,
            error_code=call.code(TopicAuthorizationFailed()),
            error_message=HIDDEN_TOPICS,
        )
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.assignor(call.broker.config.group_consumer_assignors),
        members=members,
        authorized_operations=group_operations(group_id, with_operations, call),
    )


def _may_describe_topics(members: list[Member], call: Call) -> bool:
    names = {
        name
        for member in members
        for name in (
            *member.subscribed_topic_names,
            *(one.topic_name for one in member.assignment.topic_partitions),
            *(one.topic_name for one in member.target_assignment.topic_partitions),
        )
    }
    return all(
        call.requires(Operation.DESCRIBE, ResourceType.TOPIC, name) for name in sorted(names)
    )


def _member(group: ConsumerGroup, member: MemberSubscription, call: Call) -> Member:
    current = group.current(member.member_id)
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=current.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex or "",
        assignment=_assignment(current.assigned, call),
        target_assignment=_assignment(group.target(member.member_id), call),
        member_type=CONSUMER if member.classic is None else CLASSIC,
    )


def _assignment(partitions: Partitions, call: Call) -> Assignment:
    """Omits deleted topics, which have no name."""
    found = [(call.broker.catalog.topic_by_id(one), one) for one in sorted(partitions)]
    return Assignment(
        topic_partitions=[
            TopicPartitions(
                topic_id=topic_id, topic_name=topic.name, partitions=sorted(partitions[topic_id])
            )
            for topic, topic_id in found
            if topic is not None
        ]
    )
