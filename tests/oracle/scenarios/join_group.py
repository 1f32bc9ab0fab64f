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
from tests.oracle.teller import Teller

TWO = {"range": b"one", "cooperative-sticky": b"two"}


def enter(tell: Teller, who: str, group_id: str, **more: Any) -> str:
    """What a new member says before it joins: nothing, or it asks for an id."""
    if tell.version < ID_REQUIRED:
        return ""
    answer = tell.ask(f"{who} asks for an id", join(group_id, **more))
    member_id: str = answer.member_id
    return member_id


@scenario("join_group")
def a_single_member(tell: Teller) -> None:
    group = tell.group("g")
    member_id = enter(tell, "it", group)
    answer = tell.ask("joins", join(group, member_id))
    member_id = answer.member_id
    tell.ask("again, before the assignment", join(group, member_id))
    tell.ask("with other metadata, before the assignment", join(group, member_id, {"range": b"2"}))
    tell.ask("with two protocols", join(group, member_id, TWO))
    answer = tell.ask("as before", join(group, member_id, TWO))
    generation = answer.generation_id
    tell.ask("its assignment", sync(group, generation, member_id, {member_id: b"all"}), SYNC)
    tell.ask("again, as the leader of a stable group", join(group, member_id, TWO))
    tell.ask("a heartbeat", heartbeat(group, generation, member_id), HEARTBEAT)


@scenario("join_group")
def a_second_member(tell: Teller) -> None:
    group = tell.group("g")
    first = tell.ask("the first joins", join(group, enter(tell, "the first", group))).member_id
    tell.ask("its assignment", sync(group, 1, first, {first: b"all"}), SYNC)
    second = enter(tell, "the second", group)
    tell.ask("the first is not told yet", heartbeat(group, 1, first), HEARTBEAT)
    waiting = tell.begin(join(group, second), on="second")
    tell.group_becomes(group, "PreparingRebalance", 2)
    tell.ask("the first is told", heartbeat(group, 1, first), HEARTBEAT)
    again = tell.begin(join(group, first), on="first")
    second = tell.end("the second joins", waiting).member_id
    tell.end("the first joins again", again)
    tell.ask("a heartbeat before the assignment", heartbeat(group, 2, second), HEARTBEAT)
    follower = tell.begin(sync(group, 2, second), "second", SYNC)
    both = {first: b"a", second: b"b"}
    tell.ask("the leader assigns", sync(group, 2, first, both), SYNC)
    tell.end("the follower is told", follower)
    tell.ask("the follower joins again with the same", join(group, second))
    tell.ask("nothing has happened", heartbeat(group, 2, first), HEARTBEAT)
    waiting = tell.begin(join(group, second, {"range": b"new"}), on="second")
    tell.group_becomes(group, "PreparingRebalance", 2)
    again = tell.begin(join(group, first), on="first")
    tell.end("the follower joins again with something new", waiting)
    tell.end("so does the leader", again)


@scenario("join_group")
def the_protocol_that_most_prefer(tell: Teller) -> None:
    group = tell.group("g")
    mine = {"a": b"1", "b": b"2", "c": b"3"}
    first = enter(tell, "the first", group, protocols=mine)
    first = tell.ask("the first joins", join(group, first, mine)).member_id
    theirs = {"d": b"4", "c": b"5", "b": b"6"}
    second = enter(tell, "the second", group, protocols=theirs)
    waiting = tell.begin(join(group, second, theirs), on="second")
    tell.group_becomes(group, "PreparingRebalance", 2)
    again = tell.begin(join(group, first, mine), on="first")
    tell.end("the second joins", waiting)
    tell.end("the first joins again", again)


@scenario("join_group")
def what_does_not_fit_the_group(tell: Teller) -> None:
    group = tell.group("g")
    live = stable(tell, group)
    tell.ask("another type", join(group, protocol_type="connect"))
    tell.ask("another protocol", join(group, protocols={"roundrobin": b"one"}))
    tell.ask("an id that nobody has", join(group, "nobody"))
    tell.ask("its own id with another protocol", join(group, live.member_id, {"sticky": b"1"}))
    tell.ask("its own id with another type", join(group, live.member_id, protocol_type="connect"))


@scenario("join_group")
def refusals(tell: Teller) -> None:
    tell.ask("an empty group", join(""))
    tell.ask("an id in a group that is not there", join(tell.group("none"), "nobody"))
    tell.ask("no type", join(tell.group("no type"), protocol_type=""))
    tell.ask("no protocols", join(tell.group("no protocols"), protocols={}))
    tell.ask("neither", join(tell.group("neither"), protocols={}, protocol_type=""))
    for timeout_ms in (-1, 0, 5_999, 1_800_001):
        group = tell.group(f"session {timeout_ms}")
        tell.ask(f"a session of {timeout_ms}", join(group, session_timeout_ms=timeout_ms))
    for timeout_ms in (6_000, 1_800_000):
        group = tell.group(f"session {timeout_ms}")
        tell.ask(f"a session of {timeout_ms}", join(group, session_timeout_ms=timeout_ms))
    if tell.version >= 1:
        group = tell.group("rebalance")
        tell.ask("a rebalance timeout of -1", join(group, rebalance_timeout_ms=-1))


@scenario("join_group", first=ID_REQUIRED)
def ids_that_were_given(tell: Teller) -> None:
    group, other = tell.group("g"), tell.group("other")
    given = tell.ask("asks for an id", join(group)).member_id
    tell.ask("asks for another", join(group))
    tell.ask("takes it elsewhere", join(other, given))
    tell.ask("does not keep to its protocols", join(group, given, {"sticky": b"1"}))
    tell.ask("a heartbeat before it is used again", heartbeat(group, 0, given), HEARTBEAT)


@scenario("join_group", first=STATIC_JOIN)
def a_static_member(tell: Teller) -> None:
    group = tell.group("g")
    static: dict[str, Any] = {"group_instance_id": "i"}
    first = tell.ask("joins", join(group, **static)).member_id
    tell.ask("its assignment", sync(group, 1, first, {first: b"all"}), SYNC)
    second = tell.ask("comes back", join(group, **static)).member_id
    tell.ask("a heartbeat", heartbeat(group, 1, second, "i"), HEARTBEAT)
    tell.ask("the old id in a heartbeat", heartbeat(group, 1, first, "i"), HEARTBEAT)
    tell.ask("the old id alone in a heartbeat", heartbeat(group, 1, first), HEARTBEAT)
    tell.ask("the old id joins", join(group, first, **static))
    tell.ask("an id without its instance", join(group, second))
    tell.ask("another instance with its id", join(group, second, group_instance_id="j"))
    tell.ask("an instance that nobody has, with an id", join(group, "x", group_instance_id="k"))
    tell.ask("its assignment again", sync(group, 1, second, group_instance_id="i"), SYNC)


@scenario("join_group", first=STATIC_JOIN)
def a_static_member_with_something_new(tell: Teller) -> None:
    group = tell.group("g")
    static: dict[str, Any] = {"group_instance_id": "i"}
    first = tell.ask("joins", join(group, **static)).member_id
    second = tell.ask("comes back before the assignment", join(group, **static)).member_id
    tell.ask("its assignment with the old id", sync(group, 1, first, group_instance_id="i"), SYNC)
    tell.ask("its assignment", sync(group, 2, second, {second: b"all"}), SYNC)
    tell.ask("comes back with other metadata", join(group, protocols={"range": b"2"}, **static))
    tell.ask("and with another protocol", join(group, protocols={"sticky": b"2"}, **static))


@scenario("join_group", first=STATIC_JOIN)
def a_static_member_beside_another(tell: Teller) -> None:
    """The one that comes back is no leader; then the leader comes back."""
    group = tell.group("g")
    first = tell.ask("the first joins", join(group, group_instance_id="i")).member_id
    waiting = tell.begin(join(group, group_instance_id="j"), on="second")
    tell.group_becomes(group, "PreparingRebalance", 2)
    again = tell.begin(join(group, first, group_instance_id="i"), on="first")
    second = tell.end("the second joins", waiting).member_id
    tell.end("the first joins again", again)
    both = {first: b"a", second: b"b"}
    tell.ask("the leader assigns", sync(group, 2, first, both), SYNC)
    tell.ask("the second comes back", join(group, group_instance_id="j"))
    leader = tell.ask("the leader comes back", join(group, group_instance_id="i")).member_id
    tell.ask("nobody is asked to join", heartbeat(group, 2, leader, "i"), HEARTBEAT)


@scenario("join_group", first=STATIC_JOIN)
def an_instance_that_waits_is_replaced(tell: Teller) -> None:
    group = tell.group("g")
    stable(tell, group)
    waiting = tell.begin(join(group, group_instance_id="i"), on="first")
    tell.group_becomes(group, "PreparingRebalance", 2)
    tell.begin(join(group, group_instance_id="i"), on="second")
    tell.end("the first is told", waiting)


@scenario("join_group", first=STATIC_JOIN)
def names_of_instances(tell: Teller) -> None:
    for step, name in (
        ("empty", ""),
        ("dot", "."),
        ("two dots", ".."),
        ("space", "a b"),
        ("249 characters", "x" * 249),
        ("250 characters", "x" * 250),
    ):
        tell.ask(step, join(tell.group(step), group_instance_id=name))


@scenario("join_group", first=8)
def a_reason(tell: Teller) -> None:
    group = tell.group("g")
    member_id = tell.ask("asks for an id", join(group, reason="because")).member_id
    tell.ask("joins", join(group, member_id, reason="x" * 300))


@scenario("join_group")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "join_group", b"")
    tell.ask_raw("half a body", "join_group", b"\0\x01")
