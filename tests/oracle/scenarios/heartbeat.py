from __future__ import annotations

from interfaces.kafka.wire.messages.join_group import JoinGroupResponse
from interfaces.kafka.wire.messages.leave_group import LeaveGroupResponse
from interfaces.kafka.wire.messages.sync_group import SyncGroupResponse
from tests.oracle.groups import (
    JOIN,
    STATIC,
    SYNC,
    committed,
    heartbeat,
    join,
    joined,
    leave_all,
    modern_member,
    pending,
    stable,
    sync,
)
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


@scenario("heartbeat")
def a_single_member(tell: Teller) -> None:
    group = tell.group("g")
    _, member_id, generation = joined(tell, group)
    tell.ask("before the assignment", heartbeat(group, generation, member_id))
    mine = {member_id: b"all"}
    tell.call(sync(group, generation, member_id, mine), SyncGroupResponse, SYNC)
    tell.ask("with it", heartbeat(group, generation, member_id))
    tell.ask("a generation ahead", heartbeat(group, generation + 1, member_id))
    tell.ask("a generation behind", heartbeat(group, generation - 1, member_id))
    tell.ask("no generation", heartbeat(group, -1, member_id))
    tell.ask("an id that nobody has", heartbeat(group, generation, "nobody"))
    tell.ask("no id", heartbeat(group, generation, ""))


@scenario("heartbeat")
def nobody_there(tell: Teller) -> None:
    tell.ask("an empty group", heartbeat("", 1, "nobody"))
    tell.ask("a group that is not there", heartbeat(tell.group("none"), 1, "nobody"))
    group = tell.group("g")
    committed(tell, group, tell.topic("a"), 1)
    tell.ask("a group that only has offsets", heartbeat(group, 0, "nobody"))
    member_id = pending(tell, tell.group("pending"))
    tell.ask("an id that has not joined", heartbeat(tell.group("pending"), 0, member_id))
    left = stable(tell, tell.group("left"))
    tell.call(leave_all(left.group_id, left.member_id), LeaveGroupResponse, STATIC)
    tell.ask("one that has left", heartbeat(left.group_id, left.generation, left.member_id))


@scenario("heartbeat")
def a_rebalance(tell: Teller) -> None:
    group = tell.group("g")
    first = stable(tell, group)
    second = pending(tell, group)
    waiting = tell.begin(join(group, second), "second", JOIN)
    tell.group_becomes(group, "PreparingRebalance", 2)
    tell.ask("the one that has to join", heartbeat(group, 1, first.member_id))
    tell.ask("the one that waits", heartbeat(group, 1, second))
    tell.ask("one that nobody knows", heartbeat(group, 1, "nobody"))
    tell.ask("another generation", heartbeat(group, 2, first.member_id))
    tell.call(join(group, first.member_id), JoinGroupResponse, JOIN)
    tell.end("it has joined", waiting)
    tell.ask("the new generation", heartbeat(group, 2, second))
    tell.ask("the last generation", heartbeat(group, 1, second))


@scenario("heartbeat", first=STATIC)
def a_static_member(tell: Teller) -> None:
    group = tell.group("g")
    member = stable(tell, group, group_instance_id="i")
    generation, member_id = member.generation, member.member_id
    tell.ask("by both", heartbeat(group, generation, member_id, "i"))
    tell.ask("by its id alone", heartbeat(group, generation, member_id))
    tell.ask("by its name alone", heartbeat(group, generation, "", "i"))
    tell.ask("by another id", heartbeat(group, generation, "nobody", "i"))
    tell.ask("by another id and generation", heartbeat(group, generation + 1, "nobody", "i"))
    tell.ask("by another name", heartbeat(group, generation, member_id, "j"))


@scenario("heartbeat")
def a_member_of_the_other_kind(tell: Teller) -> None:
    group = tell.group("g")
    modern_member(tell, group, "m", tell.topic("a").name)
    tell.ask("with its epoch", heartbeat(group, 1, "m"))
    tell.ask("nobody", heartbeat(group, 1, "nobody"))


@scenario("heartbeat")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "heartbeat", b"")
    tell.ask_raw("half a body", "heartbeat", b"\0\x01")
