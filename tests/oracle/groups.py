"""Requests of group members, and members that are there when a scenario begins."""

from __future__ import annotations

from typing import Any, NamedTuple

from interfaces.kafka.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from interfaces.kafka.wire.messages.heartbeat import HeartbeatRequest
from interfaces.kafka.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from interfaces.kafka.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from interfaces.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from interfaces.kafka.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from interfaces.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from interfaces.kafka.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from tests.oracle.teller import Teller, Topic

JOIN, SYNC, COMMIT, HEARTBEAT = 5, 3, 9, 3
#: From here on a member without an id is given one and has to come again.
ID_REQUIRED = 4
STATIC_JOIN, STATIC = 5, 3
SEVERAL_GROUPS = 8


class Member(NamedTuple):
    group_id: str
    member_id: str
    generation: int


def join(
    group_id: str,
    member_id: str = "",
    protocols: dict[str, bytes] | None = None,
    *,
    session_timeout_ms: int = 30_000,
    **more: Any,
) -> JoinGroupRequest:
    chosen = {"range": b"one"} if protocols is None else protocols
    more = {"protocol_type": "consumer", "rebalance_timeout_ms": 60_000, **more}
    return JoinGroupRequest(
        group_id=group_id,
        member_id=member_id,
        session_timeout_ms=session_timeout_ms,
        protocols=[JoinGroupRequestProtocol(name=k, metadata=v) for k, v in chosen.items()],
        **more,
    )


def sync(
    group_id: str,
    generation: int,
    member_id: str,
    assignments: dict[str, bytes] | None = None,
    **more: Any,
) -> SyncGroupRequest:
    more = {"protocol_type": "consumer", "protocol_name": "range", **more}
    return SyncGroupRequest(
        group_id=group_id,
        generation_id=generation,
        member_id=member_id,
        assignments=[
            SyncGroupRequestAssignment(member_id=one, assignment=data)
            for one, data in (assignments or {}).items()
        ],
        **more,
    )


def heartbeat(
    group_id: str, generation: int, member_id: str, instance: str | None = None
) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=group_id,
        generation_id=generation,
        member_id=member_id,
        group_instance_id=instance,
    )


def leave(tell: Teller, group_id: str, *members: str | tuple[str, str]) -> LeaveGroupRequest:
    """Each a member id, or a member id and an instance id; before version 3 one only."""
    if tell.version < STATIC:
        return LeaveGroupRequest(group_id=group_id, member_id=str(members[0]))
    return leave_all(group_id, *members)


def leave_all(group_id: str, *members: str | tuple[str, str]) -> LeaveGroupRequest:
    pairs = [(one, None) if isinstance(one, str) else one for one in members]
    return LeaveGroupRequest(
        group_id=group_id,
        members=[MemberIdentity(member_id=one, group_instance_id=name) for one, name in pairs],
    )


def commit(
    group_id: str,
    topic: Topic,
    *offsets: int,
    member: tuple[str, int] = ("", -1),
    instance: str | None = None,
    metadata: str | None = "",
    leader_epoch: int = -1,
    first: int = 0,
) -> OffsetCommitRequest:
    """Each offset is of a partition of its own, from `first` on."""
    member_id, generation = member
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=first + at,
            committed_offset=offset,
            committed_leader_epoch=leader_epoch,
            committed_metadata=metadata,
        )
        for at, offset in enumerate(offsets)
    ]
    return OffsetCommitRequest(
        group_id=group_id,
        member_id=member_id,
        generation_id_or_member_epoch=generation,
        group_instance_id=instance,
        topics=[
            OffsetCommitRequestTopic(
                name=topic.name, topic_id=topic.topic_id, partitions=partitions
            )
        ],
    )


def fetch_offsets(
    tell: Teller,
    group_id: str,
    wanted: dict[Topic, list[int]] | None,
    require_stable: bool = False,
    **member: Any,
) -> OffsetFetchRequest:
    """None wants all of them; `member` is an id and an epoch, from version 9 on."""
    if tell.version >= SEVERAL_GROUPS:
        asked = [offsets_of(group_id, wanted, **member)]
        return OffsetFetchRequest(groups=asked, require_stable=require_stable)
    return OffsetFetchRequest(
        group_id=group_id,
        require_stable=require_stable,
        topics=None
        if wanted is None
        else [
            OffsetFetchRequestTopic(name=topic.name, partition_indexes=partitions)
            for topic, partitions in wanted.items()
        ],
    )


def offsets_of(
    group_id: str, wanted: dict[Topic, list[int]] | None, **member: Any
) -> OffsetFetchRequestGroup:
    return OffsetFetchRequestGroup(
        group_id=group_id,
        topics=None
        if wanted is None
        else [
            OffsetFetchRequestTopics(
                name=topic.name, topic_id=topic.topic_id, partition_indexes=partitions
            )
            for topic, partitions in wanted.items()
        ],
        **member,
    )


def delete_offsets(group_id: str, wanted: dict[Topic, list[int]]) -> OffsetDeleteRequest:
    return OffsetDeleteRequest(
        group_id=group_id,
        topics=[
            OffsetDeleteRequestTopic(
                name=topic.name,
                partitions=[OffsetDeleteRequestPartition(partition_index=p) for p in partitions],
            )
            for topic, partitions in wanted.items()
        ],
    )


def modern(
    group_id: str,
    member_id: str,
    member_epoch: int,
    *topics: str,
    owned: dict[Topic, list[int]] | None = None,
    **more: Any,
) -> ConsumerGroupHeartbeatRequest:
    """With topics it is that of a member that joins: it tells everything."""
    if topics:
        more = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": list(topics), **more}
        owned = owned or {}
    return ConsumerGroupHeartbeatRequest(
        group_id=group_id,
        member_id=member_id,
        member_epoch=member_epoch,
        topic_partitions=None if owned is None else partitions_of(owned),
        **more,
    )


def partitions_of(owned: dict[Topic, list[int]]) -> list[TopicPartitions]:
    return [TopicPartitions(topic_id=k.topic_id, partitions=v) for k, v in owned.items()]


# ---- the stage


def pending(tell: Teller, group_id: str, **more: Any) -> str:
    """The id that a member is given, which has not come with it yet."""
    answer = tell.call(join(group_id, **more), JoinGroupResponse, JOIN)
    tell.placeholders.add_member(answer.member_id)
    member_id: str = answer.member_id
    return member_id


def joined(tell: Teller, group_id: str, **more: Any) -> Member:
    """The only one of a group that waits for its assignment."""
    member_id = "" if more.get("group_instance_id") else pending(tell, group_id, **more)
    answer = tell.call(join(group_id, member_id, **more), JoinGroupResponse, JOIN)
    assert answer.error_code == 0, answer
    tell.placeholders.add_member(answer.member_id)
    return Member(group_id, answer.member_id, answer.generation_id)


def stable(
    tell: Teller,
    group_id: str,
    protocols: dict[str, bytes] | None = None,
    assignment: bytes = b"all",
    **more: Any,
) -> Member:
    """The only one of a group, with its assignment."""
    member = joined(tell, group_id, protocols=protocols, **more)
    wanted = sync(group_id, member.generation, member.member_id, {member.member_id: assignment})
    answer = tell.call(wanted, SyncGroupResponse, SYNC)
    assert answer.error_code == 0, answer
    return member


def committed(tell: Teller, group_id: str, topic: Topic, *offsets: int, **more: Any) -> None:
    answer = tell.call(commit(group_id, topic, *offsets, **more), OffsetCommitResponse, COMMIT)
    errors = {one.error_code for found in answer.topics for one in found.partitions}
    assert errors == {0}, answer


def known_topic(tell: Teller, short: str, partitions: int = 1) -> Topic:
    """One that the coordinator of groups has heard of, which takes Kafka a moment longer."""
    topic = tell.topic(short, partitions)
    wait_for_coordinator(tell, topic.name)
    return topic


def wait_for_coordinator(tell: Teller, *topics: str) -> None:
    probe = f"probe of {topics[0]}"
    for _ in range(5_000):
        asked = modern(probe, "probe", 0, *topics)
        answer = tell.call(asked, ConsumerGroupHeartbeatResponse, 1)
        tell.call(modern(probe, "probe", -1), ConsumerGroupHeartbeatResponse, 1)
        if answer.assignment and len(answer.assignment.topic_partitions) == len(topics):
            return
    raise AssertionError(f"the coordinator never hears of {topics}")


def modern_member(
    tell: Teller, group_id: str, member_id: str, *topics: str, **more: Any
) -> ConsumerGroupHeartbeatResponse:
    wait_for_coordinator(tell, *topics)
    asked = modern(group_id, member_id, 0, *topics, **more)
    answer: ConsumerGroupHeartbeatResponse = tell.call(asked, ConsumerGroupHeartbeatResponse, 1)
    assert answer.error_code == 0, answer
    return answer
