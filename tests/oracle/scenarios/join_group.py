from __future__ import annotations

from typing import Any

from tests.oracle.groups import (
    HEARTBEAT,
    ID_REQUIRED,
    STATIC_JOIN,
    SYNC,
    heartbeat,
    join,
    stable,
    sync,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

TWO = {"range": b"one", "cooperative-sticky": b"two"}


def enter(run: ScenarioRun, who: str, group_id: str, **more: Any) -> str:
    """From version 4 on a new member requests an id before it joins."""
    if run.version < ID_REQUIRED:
        return ""
    response = run.send(f"{who} requests an id", join(group_id, **more))
    member_id: str = response.member_id
    return member_id


@scenario("join_group")
def a_single_member(run: ScenarioRun) -> None:
    group = run.group("g")
    member_id = enter(run, "it", group)
    response = run.send("joins", join(group, member_id))
    member_id = response.member_id
    run.send("again, before the assignment", join(group, member_id))
    run.send("with other metadata, before the assignment", join(group, member_id, {"range": b"2"}))
    run.send("with two protocols", join(group, member_id, TWO))
    response = run.send("repeated", join(group, member_id, TWO))
    generation = response.generation_id
    run.send("its assignment", sync(group, generation, member_id, {member_id: b"all"}), SYNC)
    run.send("again, as leader of the stable group", join(group, member_id, TWO))
    run.send("a heartbeat", heartbeat(group, generation, member_id), HEARTBEAT)


@scenario("join_group")
def a_second_member(run: ScenarioRun) -> None:
    group = run.group("g")
    first = run.send("the first joins", join(group, enter(run, "the first", group))).member_id
    run.send("its assignment", sync(group, 1, first, {first: b"all"}), SYNC)
    second = enter(run, "the second", group)
    run.send("the first gets no error yet", heartbeat(group, 1, first), HEARTBEAT)
    waiting = run.begin(join(group, second), on="second")
    run.wait_for_group(group, "PreparingRebalance", 2)
    run.send("the first has to rejoin", heartbeat(group, 1, first), HEARTBEAT)
    again = run.begin(join(group, first), on="first")
    second = run.end("the second joins", waiting).member_id
    run.end("the first joins again", again)
    run.send("a heartbeat before the assignment", heartbeat(group, 2, second), HEARTBEAT)
    follower = run.begin(sync(group, 2, second), "second", SYNC)
    both = {first: b"a", second: b"b"}
    run.send("the leader assigns", sync(group, 2, first, both), SYNC)
    run.end("the follower gets its assignment", follower)
    run.send("the follower rejoins unchanged", join(group, second))
    run.send("the generation is unchanged", heartbeat(group, 2, first), HEARTBEAT)
    waiting = run.begin(join(group, second, {"range": b"new"}), on="second")
    run.wait_for_group(group, "PreparingRebalance", 2)
    again = run.begin(join(group, first), on="first")
    run.end("the follower rejoins with new metadata", waiting)
    run.end("the leader rejoins", again)


@scenario("join_group")
def the_preferred_protocol(run: ScenarioRun) -> None:
    group = run.group("g")
    mine = {"a": b"1", "b": b"2", "c": b"3"}
    first = enter(run, "the first", group, protocols=mine)
    first = run.send("the first joins", join(group, first, mine)).member_id
    theirs = {"d": b"4", "c": b"5", "b": b"6"}
    second = enter(run, "the second", group, protocols=theirs)
    waiting = run.begin(join(group, second, theirs), on="second")
    run.wait_for_group(group, "PreparingRebalance", 2)
    again = run.begin(join(group, first, mine), on="first")
    run.end("the second joins", waiting)
    run.end("the first joins again", again)


@scenario("join_group")
def inconsistent_members(run: ScenarioRun) -> None:
    group = run.group("g")
    live = stable(run, group)
    run.send("another type", join(group, protocol_type="connect"))
    run.send("another protocol", join(group, protocols={"roundrobin": b"one"}))
    run.send("an unknown member id", join(group, "nobody"))
    run.send("its own id with another protocol", join(group, live.member_id, {"sticky": b"1"}))
    run.send("its own id with another type", join(group, live.member_id, protocol_type="connect"))


@scenario("join_group")
def refusals(run: ScenarioRun) -> None:
    run.send("an empty group", join(""))
    run.send("a member id in an unknown group", join(run.group("none"), "nobody"))
    run.send("no type", join(run.group("no type"), protocol_type=""))
    run.send("no protocols", join(run.group("no protocols"), protocols={}))
    run.send("neither", join(run.group("neither"), protocols={}, protocol_type=""))
    for timeout_ms in (-1, 0, 5_999, 1_800_001):
        group = run.group(f"session {timeout_ms}")
        run.send(f"a session of {timeout_ms}", join(group, session_timeout_ms=timeout_ms))
    for timeout_ms in (6_000, 1_800_000):
        group = run.group(f"session {timeout_ms}")
        run.send(f"a session of {timeout_ms}", join(group, session_timeout_ms=timeout_ms))
    if run.version >= 1:
        group = run.group("rebalance")
        run.send("a rebalance timeout of -1", join(group, rebalance_timeout_ms=-1))


@scenario("join_group", first=ID_REQUIRED)
def pending_member_ids(run: ScenarioRun) -> None:
    group, other = run.group("g"), run.group("other")
    pending = run.send("requests an id", join(group)).member_id
    run.send("requests another id", join(group))
    run.send("uses it in another group", join(other, pending))
    run.send("uses it with other protocols", join(group, pending, {"sticky": b"1"}))
    run.send("a heartbeat of the pending member", heartbeat(group, 0, pending), HEARTBEAT)


@scenario("join_group", first=STATIC_JOIN)
def a_static_member(run: ScenarioRun) -> None:
    group = run.group("g")
    static: dict[str, Any] = {"group_instance_id": "i"}
    first = run.send("joins", join(group, **static)).member_id
    run.send("its assignment", sync(group, 1, first, {first: b"all"}), SYNC)
    second = run.send("rejoins", join(group, **static)).member_id
    run.send("a heartbeat", heartbeat(group, 1, second, "i"), HEARTBEAT)
    run.send("the old id in a heartbeat", heartbeat(group, 1, first, "i"), HEARTBEAT)
    run.send("the old id alone in a heartbeat", heartbeat(group, 1, first), HEARTBEAT)
    run.send("the old id joins", join(group, first, **static))
    run.send("a member id without its instance id", join(group, second))
    run.send("another instance with its id", join(group, second, group_instance_id="j"))
    run.send("an unknown instance with a member id", join(group, "x", group_instance_id="k"))
    run.send("its assignment again", sync(group, 1, second, group_instance_id="i"), SYNC)


@scenario("join_group", first=STATIC_JOIN)
def a_static_member_with_changed_metadata(run: ScenarioRun) -> None:
    group = run.group("g")
    static: dict[str, Any] = {"group_instance_id": "i"}
    first = run.send("joins", join(group, **static)).member_id
    second = run.send("rejoins before the assignment", join(group, **static)).member_id
    run.send("its assignment with the old id", sync(group, 1, first, group_instance_id="i"), SYNC)
    run.send("its assignment", sync(group, 2, second, {second: b"all"}), SYNC)
    run.send("rejoins with other metadata", join(group, protocols={"range": b"2"}, **static))
    run.send("rejoins with another protocol", join(group, protocols={"sticky": b"2"}, **static))


@scenario("join_group", first=STATIC_JOIN)
def two_static_members(run: ScenarioRun) -> None:
    """First the follower rejoins, then the leader."""
    group = run.group("g")
    first = run.send("the first joins", join(group, group_instance_id="i")).member_id
    waiting = run.begin(join(group, group_instance_id="j"), on="second")
    run.wait_for_group(group, "PreparingRebalance", 2)
    again = run.begin(join(group, first, group_instance_id="i"), on="first")
    second = run.end("the second joins", waiting).member_id
    run.end("the first joins again", again)
    both = {first: b"a", second: b"b"}
    run.send("the leader assigns", sync(group, 2, first, both), SYNC)
    run.send("the second rejoins", join(group, group_instance_id="j"))
    leader = run.send("the leader rejoins", join(group, group_instance_id="i")).member_id
    run.send("no rebalance", heartbeat(group, 2, leader, "i"), HEARTBEAT)


@scenario("join_group", first=STATIC_JOIN)
def a_pending_instance_is_replaced(run: ScenarioRun) -> None:
    group = run.group("g")
    stable(run, group)
    waiting = run.begin(join(group, group_instance_id="i"), on="first")
    run.wait_for_group(group, "PreparingRebalance", 2)
    run.begin(join(group, group_instance_id="i"), on="second")
    run.end("the first has to rejoin", waiting)


@scenario("join_group", first=STATIC_JOIN)
def instance_ids(run: ScenarioRun) -> None:
    for step, name in (
        ("empty", ""),
        ("dot", "."),
        ("two dots", ".."),
        ("space", "a b"),
        ("249 characters", "x" * 249),
        ("250 characters", "x" * 250),
    ):
        run.send(step, join(run.group(step), group_instance_id=name))


@scenario("join_group", first=8)
def a_reason(run: ScenarioRun) -> None:
    group = run.group("g")
    member_id = run.send("requests an id", join(group, reason="because")).member_id
    run.send("joins", join(group, member_id, reason="x" * 300))


@scenario("join_group")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "join_group", b"")
    run.send_raw("half a body", "join_group", b"\0\x01")
