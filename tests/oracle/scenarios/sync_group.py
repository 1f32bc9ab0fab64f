from __future__ import annotations

from interfaces.kafka.wire.messages.join_group import JoinGroupResponse
from interfaces.kafka.wire.messages.sync_group import SyncGroupRequest
from tests.oracle.groups import (
    HEARTBEAT,
    JOIN,
    STATIC,
    committed,
    heartbeat,
    join,
    joined,
    pending,
    stable,
    sync,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

NAMES_PROTOCOL = 5


@scenario("sync_group")
def a_single_member(run: ScenarioRun) -> None:
    _, member_id, generation = joined(run, run.group("g"))
    group = run.group("g")
    mine = {member_id: b"all"}
    run.send("a heartbeat before", heartbeat(group, generation, member_id), HEARTBEAT)
    run.send("its assignment", sync(group, generation, member_id, mine))
    run.send("again with another", sync(group, generation, member_id, {member_id: b"none"}))
    run.send("again without", sync(group, generation, member_id))
    run.send("a generation ahead", sync(group, generation + 1, member_id, mine))
    run.send("a generation behind", sync(group, generation - 1, member_id, mine))
    run.send("no generation", sync(group, -1, member_id, mine))


@scenario("sync_group")
def before_the_assignment(run: ScenarioRun) -> None:
    _, member_id, generation = joined(run, run.group("g"))
    group = run.group("g")
    run.send("a generation ahead", sync(group, generation + 1, member_id))
    run.send("an unknown member id", sync(group, generation, "nobody"))
    run.send("no id", sync(group, generation, ""))
    others = {"nobody": b"all"}
    run.send("an assignment for others only", sync(group, generation, member_id, others))


@scenario("sync_group")
def two_members(run: ScenarioRun) -> None:
    group = run.group("g")
    first = stable(run, group).member_id
    second = pending(run, group)
    waiting = run.begin(join(group, second), "second", JOIN)
    run.wait_for_group(group, "PreparingRebalance", 2)
    run.send("while others join", sync(group, 1, first))
    run.send("a pending member", sync(group, 1, second))
    run.call(join(group, first), JoinGroupResponse, JOIN)
    run.end("the second joins", waiting)
    early = run.begin(sync(group, 2, second), "second")
    run.send("the last generation", sync(group, 1, first))
    run.send("the leader assigns", sync(group, 2, first, {first: b"a", second: b"b"}))
    run.end("the pending SyncGroup", early)
    run.send("SyncGroup again", sync(group, 2, second))
    run.send("a follower assigns", sync(group, 2, second, {second: b"all"}))


@scenario("sync_group")
def a_missing_assignment(run: ScenarioRun) -> None:
    """A follower waits for it when a third one joins."""
    group = run.group("g")
    first = stable(run, group).member_id
    second = pending(run, group)
    waiting = run.begin(join(group, second), "second", JOIN)
    run.wait_for_group(group, "PreparingRebalance", 2)
    run.call(join(group, first), JoinGroupResponse, JOIN)
    run.end("the second joins", waiting)
    early = run.begin(sync(group, 2, second), "second")
    third = pending(run, group)
    run.begin(join(group, third), "third", JOIN)
    run.end("the follower has to rejoin", early)
    run.send("the leader has to rejoin", sync(group, 2, first, {first: b"a"}))


@scenario("sync_group")
def unknown_groups_and_members(run: ScenarioRun) -> None:
    run.send("an empty group", sync("", 1, "nobody"))
    run.send("an unknown group", sync(run.group("none"), 1, "nobody"))
    group = run.group("g")
    committed(run, group, run.topic("a"), 1)
    run.send("a group with offsets only", sync(group, 1, "nobody"))
    member_id = pending(run, run.group("pending"))
    run.send("a pending member id", sync(run.group("pending"), 0, member_id))


@scenario("sync_group", first=STATIC)
def a_static_member(run: ScenarioRun) -> None:
    group = run.group("g")
    member = joined(run, group, group_instance_id="i")
    generation, member_id = member.generation, member.member_id
    mine = {member_id: b"all"}
    run.send("with another id", sync(group, generation, "nobody", mine, group_instance_id="i"))
    run.send("with no id", sync(group, generation, "", mine, group_instance_id="i"))
    run.send(
        "with an unknown instance id",
        sync(group, generation, member_id, mine, group_instance_id="j"),
    )
    run.send("without its instance id", sync(group, generation, member_id, mine))
    run.send("its assignment", sync(group, generation, member_id, mine, group_instance_id="i"))


@scenario("sync_group", first=NAMES_PROTOCOL)
def protocol_type_and_name(run: ScenarioRun) -> None:
    group = run.group("g")
    _, member_id, generation = joined(run, group)

    def with_names(protocol_type: str | None, protocol_name: str | None) -> SyncGroupRequest:
        mine = {member_id: b"all"}
        names = {"protocol_type": protocol_type, "protocol_name": protocol_name}
        return sync(group, generation, member_id, mine, **names)

    run.send("another type", with_names("connect", "range"))
    run.send("another name", with_names("consumer", "sticky"))
    run.send("an empty type", with_names("", "range"))
    run.send("an empty name", with_names("consumer", ""))
    run.send("a type alone", with_names("consumer", None))
    run.send("a name alone", with_names(None, "range"))
    run.send("both", with_names("consumer", "range"))


@scenario("sync_group")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "sync_group", b"")
    run.send_raw("half a body", "sync_group", b"\0\x01")
