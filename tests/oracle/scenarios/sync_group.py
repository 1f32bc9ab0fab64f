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
from tests.oracle.teller import Teller

NAMES_PROTOCOL = 5


@scenario("sync_group")
def a_single_member(tell: Teller) -> None:
    _, member_id, generation = joined(tell, tell.group("g"))
    group = tell.group("g")
    mine = {member_id: b"all"}
    tell.ask("before", heartbeat(group, generation, member_id), HEARTBEAT)
    tell.ask("its assignment", sync(group, generation, member_id, mine))
    tell.ask("again with another", sync(group, generation, member_id, {member_id: b"none"}))
    tell.ask("again without", sync(group, generation, member_id))
    tell.ask("a generation ahead", sync(group, generation + 1, member_id, mine))
    tell.ask("a generation behind", sync(group, generation - 1, member_id, mine))
    tell.ask("no generation", sync(group, -1, member_id, mine))


@scenario("sync_group")
def before_the_assignment(tell: Teller) -> None:
    _, member_id, generation = joined(tell, tell.group("g"))
    group = tell.group("g")
    tell.ask("a generation ahead", sync(group, generation + 1, member_id))
    tell.ask("an id that nobody has", sync(group, generation, "nobody"))
    tell.ask("no id", sync(group, generation, ""))
    others = {"nobody": b"all"}
    tell.ask("an assignment for others only", sync(group, generation, member_id, others))


@scenario("sync_group")
def two_members(tell: Teller) -> None:
    group = tell.group("g")
    first = stable(tell, group).member_id
    second = pending(tell, group)
    waiting = tell.begin(join(group, second), "second", JOIN)
    tell.group_becomes(group, "PreparingRebalance", 2)
    tell.ask("while others join", sync(group, 1, first))
    tell.ask("a member that waits", sync(group, 1, second))
    tell.call(join(group, first), JoinGroupResponse, JOIN)
    tell.end("the second joins", waiting)
    early = tell.begin(sync(group, 2, second), "second")
    tell.ask("the last generation", sync(group, 1, first))
    tell.ask("the leader assigns", sync(group, 2, first, {first: b"a", second: b"b"}))
    tell.end("the one that waited", early)
    tell.ask("it asks again", sync(group, 2, second))
    tell.ask("a follower assigns", sync(group, 2, second, {second: b"all"}))


@scenario("sync_group")
def an_assignment_that_does_not_come(tell: Teller) -> None:
    """A follower waits for it when a third one joins."""
    group = tell.group("g")
    first = stable(tell, group).member_id
    second = pending(tell, group)
    waiting = tell.begin(join(group, second), "second", JOIN)
    tell.group_becomes(group, "PreparingRebalance", 2)
    tell.call(join(group, first), JoinGroupResponse, JOIN)
    tell.end("the second joins", waiting)
    early = tell.begin(sync(group, 2, second), "second")
    third = pending(tell, group)
    tell.begin(join(group, third), "third", JOIN)
    tell.end("the follower is told", early)
    tell.ask("so is the leader", sync(group, 2, first, {first: b"a"}))


@scenario("sync_group")
def nobody_there(tell: Teller) -> None:
    tell.ask("an empty group", sync("", 1, "nobody"))
    tell.ask("a group that is not there", sync(tell.group("none"), 1, "nobody"))
    group = tell.group("g")
    committed(tell, group, tell.topic("a"), 1)
    tell.ask("a group that only has offsets", sync(group, 1, "nobody"))
    member_id = pending(tell, tell.group("pending"))
    tell.ask("an id that has not joined", sync(tell.group("pending"), 0, member_id))


@scenario("sync_group", first=STATIC)
def a_static_member(tell: Teller) -> None:
    group = tell.group("g")
    member = joined(tell, group, group_instance_id="i")
    generation, member_id = member.generation, member.member_id
    mine = {member_id: b"all"}
    tell.ask("with another id", sync(group, generation, "nobody", mine, group_instance_id="i"))
    tell.ask("with no id", sync(group, generation, "", mine, group_instance_id="i"))
    tell.ask("an unknown one", sync(group, generation, member_id, mine, group_instance_id="j"))
    tell.ask("without its name", sync(group, generation, member_id, mine))
    tell.ask("its assignment", sync(group, generation, member_id, mine, group_instance_id="i"))


@scenario("sync_group", first=NAMES_PROTOCOL)
def the_protocol_by_name(tell: Teller) -> None:
    group = tell.group("g")
    _, member_id, generation = joined(tell, group)

    def with_names(protocol_type: str | None, protocol_name: str | None) -> SyncGroupRequest:
        mine = {member_id: b"all"}
        names = {"protocol_type": protocol_type, "protocol_name": protocol_name}
        return sync(group, generation, member_id, mine, **names)

    tell.ask("another type", with_names("connect", "range"))
    tell.ask("another name", with_names("consumer", "sticky"))
    tell.ask("an empty type", with_names("", "range"))
    tell.ask("an empty name", with_names("consumer", ""))
    tell.ask("a type alone", with_names("consumer", None))
    tell.ask("a name alone", with_names(None, "range"))
    tell.ask("both", with_names("consumer", "range"))


@scenario("sync_group")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "sync_group", b"")
    tell.ask_raw("half a body", "sync_group", b"\0\x01")
