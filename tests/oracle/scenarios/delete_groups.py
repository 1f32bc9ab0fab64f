from __future__ import annotations

from interfaces.kafka.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest
from interfaces.kafka.wire.messages.leave_group import LeaveGroupResponse
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from tests.oracle.groups import (
    STATIC,
    committed,
    joined,
    leave_all,
    modern,
    modern_member,
    pending,
    stable,
)
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def asked(*groups: str) -> DeleteGroupsRequest:
    return DeleteGroupsRequest(groups_names=list(groups))


@scenario("delete_groups")
def an_empty_one(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    committed(tell, group, topic, 5)
    tell.ask("ask", asked(group))
    wanted = [OffsetFetchRequestTopic(name=topic.name, partition_indexes=[0])]
    tell.ask("its offsets", OffsetFetchRequest(group_id=group, topics=wanted), 5)
    tell.ask("again", asked(group))
    committed(tell, group, topic, 6)
    tell.ask("one that came back", asked(group))


@scenario("delete_groups")
def one_with_members(tell: Teller) -> None:
    group, completing, given = tell.group("g"), tell.group("completing"), tell.group("pending")
    member = stable(tell, group)
    joined(tell, completing)
    pending(tell, given)
    tell.ask("stable", asked(group))
    tell.ask("completing", asked(completing))
    tell.ask("an id was given", asked(given))
    tell.call(leave_all(group, member.member_id), LeaveGroupResponse, STATIC)
    tell.ask("the member has left", asked(group))


@scenario("delete_groups")
def one_of_the_other_kind(tell: Teller) -> None:
    group = tell.group("g")
    modern_member(tell, group, "m", tell.topic("a").name)
    tell.ask("with a member", asked(group))
    tell.call(modern(group, "m", -1), ConsumerGroupHeartbeatResponse, 1)
    tell.ask("the member has left", asked(group))
    tell.ask("again", asked(group))


@scenario("delete_groups")
def several(tell: Teller) -> None:
    group, other, topic = tell.group("g"), tell.group("h"), tell.topic("a")
    committed(tell, group, topic, 5)
    stable(tell, other)
    tell.ask("three", asked(tell.group("none"), other, group))
    committed(tell, group, topic, 5)
    tell.ask("the same twice", asked(group, group))
    tell.ask("none", asked())
    tell.ask("an empty name", asked(""))


@scenario("delete_groups")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "delete_groups", b"")
    tell.ask_raw("half a body", "delete_groups", b"\0\0\0" if tell.version < 2 else b"\x02\x09a")
