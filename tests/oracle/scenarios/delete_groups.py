from __future__ import annotations

from interfaces.kafka.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest
from interfaces.kafka.wire.messages.leave_group import LeaveGroupResponse
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from tests.oracle.groups import (
    STATIC,
    beat,
    committed,
    consumer_member,
    joined,
    leave_all,
    pending,
    stable,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


def request(*groups: str) -> DeleteGroupsRequest:
    return DeleteGroupsRequest(groups_names=list(groups))


@scenario("delete_groups")
def an_empty_group(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    committed(run, group, topic, 5)
    run.send("request", request(group))
    topics = [OffsetFetchRequestTopic(name=topic.name, partition_indexes=[0])]
    run.send("its offsets", OffsetFetchRequest(group_id=group, topics=topics), 5)
    run.send("again", request(group))
    committed(run, group, topic, 6)
    run.send("a recreated group", request(group))


@scenario("delete_groups")
def groups_with_members(run: ScenarioRun) -> None:
    group, completing, unused = run.group("g"), run.group("completing"), run.group("pending")
    member = stable(run, group)
    joined(run, completing)
    pending(run, unused)
    run.send("stable", request(group))
    run.send("completing", request(completing))
    run.send("a pending member", request(unused))
    run.call(leave_all(group, member.member_id), LeaveGroupResponse, STATIC)
    run.send("the member has left", request(group))


@scenario("delete_groups")
def a_consumer_group(run: ScenarioRun) -> None:
    group = run.group("g")
    consumer_member(run, group, "m", run.topic("a").name)
    run.send("with a member", request(group))
    run.call(beat(group, "m", -1), ConsumerGroupHeartbeatResponse, 1)
    run.send("the member has left", request(group))
    run.send("again", request(group))


@scenario("delete_groups")
def several(run: ScenarioRun) -> None:
    group, other, topic = run.group("g"), run.group("h"), run.topic("a")
    committed(run, group, topic, 5)
    stable(run, other)
    run.send("three", request(run.group("none"), other, group))
    committed(run, group, topic, 5)
    run.send("the same twice", request(group, group))
    run.send("none", request())
    run.send("an empty name", request(""))


@scenario("delete_groups")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "delete_groups", b"")
    run.send_raw("half a body", "delete_groups", b"\0\0\0" if run.version < 2 else b"\x02\x09a")
