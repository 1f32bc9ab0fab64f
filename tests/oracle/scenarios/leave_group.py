from __future__ import annotations

from interfaces.kafka.wire.messages.join_group import JoinGroupResponse
from interfaces.kafka.wire.messages.leave_group import LeaveGroupRequest
from tests.oracle.groups import (
    HEARTBEAT,
    JOIN,
    STATIC,
    committed,
    heartbeat,
    join,
    leave,
    leave_all,
    modern_member,
    pending,
    stable,
)
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


@scenario("leave_group")
def a_single_member(tell: Teller) -> None:
    group = tell.group("g")
    member = stable(tell, group)
    tell.ask("one that nobody knows", leave(tell, group, "nobody"))
    tell.ask("no id", leave(tell, group, ""))
    tell.ask("it leaves", leave(tell, group, member.member_id))
    tell.ask("again", leave(tell, group, member.member_id))
    tell.group_becomes(group, "Empty", 0)
    heard = heartbeat(group, member.generation, member.member_id)
    tell.ask("a heartbeat", heard, HEARTBEAT)


@scenario("leave_group")
def nobody_there(tell: Teller) -> None:
    tell.ask("an empty group", leave(tell, "", "nobody"))
    tell.ask("a group that is not there", leave(tell, tell.group("none"), "nobody"))
    group = tell.group("g")
    committed(tell, group, tell.topic("a"), 1)
    tell.ask("a group that only has offsets", leave(tell, group, "nobody"))
    member_id = pending(tell, tell.group("pending"))
    tell.ask("an id that has not joined", leave(tell, tell.group("pending"), member_id))
    tell.ask("again", leave(tell, tell.group("pending"), member_id))


@scenario("leave_group")
def one_of_two(tell: Teller) -> None:
    group = tell.group("g")
    first = stable(tell, group).member_id
    second = pending(tell, group)
    waiting = tell.begin(join(group, second), "second", JOIN)
    tell.group_becomes(group, "PreparingRebalance", 2)
    tell.ask("the one that was to join again", leave(tell, group, first))
    tell.end("the other one is told", waiting)


@scenario("leave_group")
def while_it_waits(tell: Teller) -> None:
    group = tell.group("g")
    first = stable(tell, group).member_id
    second = pending(tell, group)
    waiting = tell.begin(join(group, second), "second", JOIN)
    tell.group_becomes(group, "PreparingRebalance", 2)
    tell.ask("it leaves", leave(tell, group, second))
    tell.end("what it waited for", waiting)
    tell.ask("the other one", heartbeat(group, 1, first), HEARTBEAT)
    answer = tell.ask("the other one joins", join(group, first), JOIN)
    assert answer.generation_id == 2


@scenario("leave_group", first=STATIC)
def several_at_once(tell: Teller) -> None:
    group = tell.group("g")
    first = stable(tell, group).member_id
    second = pending(tell, group)
    waiting = tell.begin(join(group, second), "second", JOIN)
    tell.group_becomes(group, "PreparingRebalance", 2)
    tell.call(join(group, first), JoinGroupResponse, JOIN)
    tell.end("it joins", waiting)
    tell.ask("nobody", leave_all(group))
    tell.ask("three", leave_all(group, second, "nobody", first))
    tell.ask("one of them twice", leave_all(group, second, second))


@scenario("leave_group", first=STATIC)
def static_members(tell: Teller) -> None:
    group = tell.group("g")
    first = stable(tell, group, group_instance_id="i").member_id
    tell.ask("another id", leave_all(group, ("nobody", "i")))
    tell.ask("another name", leave_all(group, (first, "j")))
    tell.ask("a name that nobody has", leave_all(group, ("", "j")))
    tell.ask("an id without the name", leave_all(group, first))
    stable(tell, group, group_instance_id="i")
    tell.ask("its name", leave_all(group, ("", "i")))
    tell.ask("again", leave_all(group, ("", "i")))
    first = stable(tell, group, group_instance_id="i").member_id
    tell.ask("both", leave_all(group, (first, "i")))


@scenario("leave_group", first=STATIC)
def static_members_of_the_other_kind(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    modern_member(tell, group, "m", topic.name, instance_id="i")
    modern_member(tell, group, "n", topic.name)
    tell.ask("its name", leave_all(group, ("", "i")))
    tell.ask("a name that nobody has", leave_all(group, ("", "j")))
    tell.ask("another id", leave_all(group, ("nobody", "")))
    tell.ask("its id", leave_all(group, "n"))


@scenario("leave_group", first=5)
def a_reason(tell: Teller) -> None:
    group = tell.group("g")
    member = stable(tell, group)
    request: LeaveGroupRequest = leave_all(group, member.member_id)
    request.members[0].reason = "x" * 300
    tell.ask("ask", request)


@scenario("leave_group")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "leave_group", b"")
    tell.ask_raw("half a body", "leave_group", b"\0\x01")
