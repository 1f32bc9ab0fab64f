from __future__ import annotations

from interfaces.kafka.wire.messages.join_group import JoinGroupResponse
from interfaces.kafka.wire.messages.leave_group import LeaveGroupResponse
from interfaces.kafka.wire.messages.sync_group import SyncGroupResponse
from tests.oracle.groups import (
    JOIN,
    STATIC,
    SYNC,
    committed,
    consumer_member,
    heartbeat,
    join,
    joined,
    leave_all,
    pending,
    stable,
    sync,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


@scenario("heartbeat")
def a_single_member(run: ScenarioRun) -> None:
    group = run.group("g")
    _, member_id, generation = joined(run, group)
    run.send("before the assignment", heartbeat(group, generation, member_id))
    mine = {member_id: b"all"}
    run.call(sync(group, generation, member_id, mine), SyncGroupResponse, SYNC)
    run.send("with the assignment", heartbeat(group, generation, member_id))
    run.send("a generation ahead", heartbeat(group, generation + 1, member_id))
    run.send("a generation behind", heartbeat(group, generation - 1, member_id))
    run.send("no generation", heartbeat(group, -1, member_id))
    run.send("an unknown member id", heartbeat(group, generation, "nobody"))
    run.send("no id", heartbeat(group, generation, ""))


@scenario("heartbeat")
def unknown_groups_and_members(run: ScenarioRun) -> None:
    run.send("an empty group", heartbeat("", 1, "nobody"))
    run.send("an unknown group", heartbeat(run.group("none"), 1, "nobody"))
    group = run.group("g")
    committed(run, group, run.topic("a"), 1)
    run.send("a group with offsets only", heartbeat(group, 0, "nobody"))
    member_id = pending(run, run.group("pending"))
    run.send("a pending member id", heartbeat(run.group("pending"), 0, member_id))
    left = stable(run, run.group("left"))
    run.call(leave_all(left.group_id, left.member_id), LeaveGroupResponse, STATIC)
    run.send("a member that has left", heartbeat(left.group_id, left.generation, left.member_id))


@scenario("heartbeat")
def a_rebalance(run: ScenarioRun) -> None:
    group = run.group("g")
    first = stable(run, group)
    second = pending(run, group)
    waiting = run.begin(join(group, second), "second", JOIN)
    run.wait_for_group(group, "PreparingRebalance", 2)
    run.send("a member that has to rejoin", heartbeat(group, 1, first.member_id))
    run.send("a pending member", heartbeat(group, 1, second))
    run.send("an unknown member id", heartbeat(group, 1, "nobody"))
    run.send("another generation", heartbeat(group, 2, first.member_id))
    run.call(join(group, first.member_id), JoinGroupResponse, JOIN)
    run.end("the pending member joins", waiting)
    run.send("the new generation", heartbeat(group, 2, second))
    run.send("the last generation", heartbeat(group, 1, second))


@scenario("heartbeat", first=STATIC)
def a_static_member(run: ScenarioRun) -> None:
    group = run.group("g")
    member = stable(run, group, group_instance_id="i")
    generation, member_id = member.generation, member.member_id
    run.send("by both", heartbeat(group, generation, member_id, "i"))
    run.send("by its member id alone", heartbeat(group, generation, member_id))
    run.send("by its instance id alone", heartbeat(group, generation, "", "i"))
    run.send("by another member id", heartbeat(group, generation, "nobody", "i"))
    run.send("by another member id and generation", heartbeat(group, generation + 1, "nobody", "i"))
    run.send("by another instance id", heartbeat(group, generation, member_id, "j"))


@scenario("heartbeat")
def a_member_of_a_consumer_group(run: ScenarioRun) -> None:
    group = run.group("g")
    consumer_member(run, group, "m", run.topic("a").name)
    run.send("with its epoch", heartbeat(group, 1, "m"))
    run.send("an unknown member", heartbeat(group, 1, "nobody"))


@scenario("heartbeat")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "heartbeat", b"")
    run.send_raw("half a body", "heartbeat", b"\0\x01")
