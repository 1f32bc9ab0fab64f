"""Requests of group members, and members that exist when a scenario starts."""

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
from tests.oracle.scenario_run import ScenarioRun, Topic

JOIN, SYNC, COMMIT, HEARTBEAT = 5, 3, 9, 3
#: From this version on a member without an id gets one and has to join again.
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


def leave(run: ScenarioRun, group_id: str, *members: str | tuple[str, str]) -> LeaveGroupRequest:
    """Of each: member id, or member and instance id; before version 3 one member."""
    if run.version < STATIC:
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
    """One offset per partition, from `first` on."""
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
    run: ScenarioRun,
    group_id: str,
    offsets: dict[Topic, list[int]] | None,
    require_stable: bool = False,
    **member: Any,
) -> OffsetFetchRequest:
    """None: all offsets; `member` is an id and an epoch, from version 9 on."""
    if run.version >= SEVERAL_GROUPS:
        groups = [offsets_of(group_id, offsets, **member)]
        return OffsetFetchRequest(groups=groups, require_stable=require_stable)
    return OffsetFetchRequest(
        group_id=group_id,
        require_stable=require_stable,
        topics=None
        if offsets is None
        else [
            OffsetFetchRequestTopic(name=topic.name, partition_indexes=partitions)
            for topic, partitions in offsets.items()
        ],
    )


def offsets_of(
    group_id: str, offsets: dict[Topic, list[int]] | None, **member: Any
) -> OffsetFetchRequestGroup:
    return OffsetFetchRequestGroup(
        group_id=group_id,
        topics=None
        if offsets is None
        else [
            OffsetFetchRequestTopics(
                name=topic.name, topic_id=topic.topic_id, partition_indexes=partitions
            )
            for topic, partitions in offsets.items()
        ],
        **member,
    )


def delete_offsets(group_id: str, offsets: dict[Topic, list[int]]) -> OffsetDeleteRequest:
    return OffsetDeleteRequest(
        group_id=group_id,
        topics=[
            OffsetDeleteRequestTopic(
                name=topic.name,
                partitions=[OffsetDeleteRequestPartition(partition_index=p) for p in partitions],
            )
            for topic, partitions in offsets.items()
        ],
    )


def beat(
    group_id: str,
    member_id: str,
    member_epoch: int,
    *topics: str,
    owned: dict[Topic, list[int]] | None = None,
    **more: Any,
) -> ConsumerGroupHeartbeatRequest:
    """With topics: the full heartbeat of a member that joins."""
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


# ---- members that exist when a scenario starts


def pending(run: ScenarioRun, group_id: str, **more: Any) -> str:
    """Returns the id of a member that has not joined with it yet."""
    response = run.call(join(group_id, **more), JoinGroupResponse, JOIN)
    run.placeholders.add_member(response.member_id)
    member_id: str = response.member_id
    return member_id


def joined(run: ScenarioRun, group_id: str, **more: Any) -> Member:
    """The only member of a group, without assignment."""
    member_id = "" if more.get("group_instance_id") else pending(run, group_id, **more)
    response = run.call(join(group_id, member_id, **more), JoinGroupResponse, JOIN)
    assert response.error_code == 0, response
    run.placeholders.add_member(response.member_id)
    return Member(group_id, response.member_id, response.generation_id)


def stable(
    run: ScenarioRun,
    group_id: str,
    protocols: dict[str, bytes] | None = None,
    assignment: bytes = b"all",
    **more: Any,
) -> Member:
    """The only member of a group, with its assignment."""
    member = joined(run, group_id, protocols=protocols, **more)
    request = sync(group_id, member.generation, member.member_id, {member.member_id: assignment})
    response = run.call(request, SyncGroupResponse, SYNC)
    assert response.error_code == 0, response
    return member


def committed(run: ScenarioRun, group_id: str, topic: Topic, *offsets: int, **more: Any) -> None:
    response = run.call(commit(group_id, topic, *offsets, **more), OffsetCommitResponse, COMMIT)
    errors = {one.error_code for found in response.topics for one in found.partitions}
    assert errors == {0}, response


def known_topic(run: ScenarioRun, short: str, partitions: int = 1) -> Topic:
    """A topic that the group coordinator knows, which takes Kafka a moment longer."""
    topic = run.topic(short, partitions)
    wait_for_coordinator(run, topic.name)
    return topic


def wait_for_coordinator(run: ScenarioRun, *topics: str) -> None:
    probe = f"probe of {topics[0]}"
    for _ in range(5_000):
        request = beat(probe, "probe", 0, *topics)
        response = run.call(request, ConsumerGroupHeartbeatResponse, 1)
        run.call(beat(probe, "probe", -1), ConsumerGroupHeartbeatResponse, 1)
        if response.assignment and len(response.assignment.topic_partitions) == len(topics):
            return
    raise AssertionError(f"the coordinator does not know {topics}")


def consumer_member(
    run: ScenarioRun, group_id: str, member_id: str, *topics: str, **more: Any
) -> ConsumerGroupHeartbeatResponse:
    wait_for_coordinator(run, *topics)
    request = beat(group_id, member_id, 0, *topics, **more)
    response: ConsumerGroupHeartbeatResponse = run.call(request, ConsumerGroupHeartbeatResponse, 1)
    assert response.error_code == 0, response
    return response
