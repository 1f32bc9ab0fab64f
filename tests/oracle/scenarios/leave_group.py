from __future__ import annotations

from interfaces.kafka.wire.messages.join_group import JoinGroupResponse
from interfaces.kafka.wire.messages.leave_group import LeaveGroupRequest
from tests.oracle.groups import (
    HEARTBEAT,
    JOIN,
    STATIC,
    committed,
    consumer_member,
    heartbeat,
    join,
    leave,
    leave_all,
    pending,
    stable,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


@scenario("leave_group")
def a_single_member(run: ScenarioRun) -> None:
    group = run.group("g")
    member = stable(run, group)
    run.send("an unknown member id", leave(run, group, "nobody"))
    run.send("no id", leave(run, group, ""))
    run.send("it leaves", leave(run, group, member.member_id))
    run.send("again", leave(run, group, member.member_id))
    run.wait_for_group(group, "Empty", 0)
    late = heartbeat(group, member.generation, member.member_id)
    run.send("a heartbeat", late, HEARTBEAT)


@scenario("leave_group")
def unknown_groups_and_members(run: ScenarioRun) -> None:
    run.send("an empty group", leave(run, "", "nobody"))
    run.send("an unknown group", leave(run, run.group("none"), "nobody"))
    group = run.group("g")
    committed(run, group, run.topic("a"), 1)
    run.send("a group with offsets only", leave(run, group, "nobody"))
    member_id = pending(run, run.group("pending"))
    run.send("a pending member id", leave(run, run.group("pending"), member_id))
    run.send("again", leave(run, run.group("pending"), member_id))


@scenario("leave_group")
def one_of_two(run: ScenarioRun) -> None:
    group = run.group("g")
    first = stable(run, group).member_id
    second = pending(run, group)
    waiting = run.begin(join(group, second), "second", JOIN)
    run.wait_for_group(group, "PreparingRebalance", 2)
    run.send("the member that has not rejoined", leave(run, group, first))
    run.end("the other member joins", waiting)


@scenario("leave_group")
def leave_with_a_pending_join(run: ScenarioRun) -> None:
    group = run.group("g")
    first = stable(run, group).member_id
    second = pending(run, group)
    waiting = run.begin(join(group, second), "second", JOIN)
    run.wait_for_group(group, "PreparingRebalance", 2)
    run.send("it leaves", leave(run, group, second))
    run.end("its pending join", waiting)
    run.send("a heartbeat of the other member", heartbeat(group, 1, first), HEARTBEAT)
    response = run.send("the other member joins", join(group, first), JOIN)
    assert response.generation_id == 2


@scenario("leave_group", first=STATIC)
def several_at_once(run: ScenarioRun) -> None:
    group = run.group("g")
    first = stable(run, group).member_id
    second = pending(run, group)
    waiting = run.begin(join(group, second), "second", JOIN)
    run.wait_for_group(group, "PreparingRebalance", 2)
    run.call(join(group, first), JoinGroupResponse, JOIN)
    run.end("the second joins", waiting)
    run.send("no members", leave_all(group))
    run.send("three", leave_all(group, second, "nobody", first))
    run.send("one of them twice", leave_all(group, second, second))


@scenario("leave_group", first=STATIC)
def static_members(run: ScenarioRun) -> None:
    group = run.group("g")
    first = stable(run, group, group_instance_id="i").member_id
    run.send("another member id", leave_all(group, ("nobody", "i")))
    run.send("another instance id", leave_all(group, (first, "j")))
    run.send("an unknown instance id", leave_all(group, ("", "j")))
    run.send("a member id alone", leave_all(group, first))
    stable(run, group, group_instance_id="i")
    run.send("its instance id", leave_all(group, ("", "i")))
    run.send("again", leave_all(group, ("", "i")))
    first = stable(run, group, group_instance_id="i").member_id
    run.send("both", leave_all(group, (first, "i")))


@scenario("leave_group", first=STATIC)
def static_members_of_a_consumer_group(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    consumer_member(run, group, "m", topic.name, instance_id="i")
    consumer_member(run, group, "n", topic.name)
    run.send("its instance id", leave_all(group, ("", "i")))
    run.send("an unknown instance id", leave_all(group, ("", "j")))
    run.send("another member id", leave_all(group, ("nobody", "")))
    run.send("its member id", leave_all(group, "n"))


@scenario("leave_group", first=5)
def a_reason(run: ScenarioRun) -> None:
    group = run.group("g")
    member = stable(run, group)
    request: LeaveGroupRequest = leave_all(group, member.member_id)
    request.members[0].reason = "x" * 300
    run.send("request", request)


@scenario("leave_group")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "leave_group", b"")
    run.send_raw("half a body", "leave_group", b"\0\x01")
