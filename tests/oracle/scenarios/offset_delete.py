from __future__ import annotations

from interfaces.kafka.wire.messages.leave_group import LeaveGroupResponse
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest
from tests.fakes.consumer_protocol import subscription
from tests.oracle.groups import (
    STATIC,
    committed,
    delete_offsets,
    leave_all,
    modern_member,
    stable,
)
from tests.oracle.requests import NOBODY
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

FETCH = 5


def everything(group_id: str) -> OffsetFetchRequest:
    return OffsetFetchRequest(group_id=group_id, topics=None)


@scenario("offset_delete")
def without_members(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a", 3)
    committed(tell, group, topic, 5, 6, 7)
    tell.ask("one", delete_offsets(group, {topic: [1]}))
    tell.ask("what is left", everything(group), FETCH)
    tell.ask("again", delete_offsets(group, {topic: [1]}))
    tell.ask("an unknown topic", delete_offsets(group, {NOBODY: [0]}))
    tell.ask("an unknown partition", delete_offsets(group, {topic: [9, -1]}))
    tell.ask("the same twice", delete_offsets(group, {topic: [2, 2]}))
    tell.ask("no partitions", delete_offsets(group, {topic: []}))
    tell.ask("no topics", delete_offsets(group, {}))
    tell.ask("the last one", delete_offsets(group, {topic: [0]}))
    tell.ask("the group is still there, or not", delete_offsets(group, {topic: [0]}))


@scenario("offset_delete")
def groups_that_are_not_there(tell: Teller) -> None:
    topic = tell.topic("a")
    tell.ask("unknown", delete_offsets(tell.group("none"), {topic: [0]}))
    tell.ask("without a name", delete_offsets("", {topic: [0]}))


@scenario("offset_delete")
def what_members_are_subscribed_to(tell: Teller) -> None:
    group, one, two = tell.group("g"), tell.topic("a"), tell.topic("b")
    member = stable(tell, group, protocols={"range": subscription(one.name)})
    who = (member.member_id, member.generation)
    committed(tell, group, one, 5, member=who)
    committed(tell, group, two, 6, member=who)
    tell.ask("both", delete_offsets(group, {one: [0], two: [0]}))
    tell.ask("what is left", everything(group), FETCH)
    tell.ask("subscribed and not there", delete_offsets(group, {one: [7]}))
    tell.call(leave_all(group, member.member_id), LeaveGroupResponse, STATIC)
    tell.ask("when the member has left", delete_offsets(group, {one: [0]}))


@scenario("offset_delete")
def members_that_are_no_consumers(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    member = stable(tell, group, protocol_type="connect")
    committed(tell, group, topic, 5, member=(member.member_id, member.generation))
    tell.ask("ask", delete_offsets(group, {topic: [0]}))


@scenario("offset_delete")
def subscriptions_that_nobody_can_read(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    member = stable(tell, group)
    committed(tell, group, topic, 5, member=(member.member_id, member.generation))
    tell.ask("ask", delete_offsets(group, {topic: [0]}))


@scenario("offset_delete")
def members_of_the_other_kind(tell: Teller) -> None:
    group, one, two = tell.group("g"), tell.topic("a"), tell.topic("b")
    epoch = modern_member(tell, group, "m", one.name).member_epoch
    committed(tell, group, one, 5, member=("m", epoch))
    committed(tell, group, two, 6, member=("m", epoch))
    tell.ask("both", delete_offsets(group, {one: [0], two: [0]}))


@scenario("offset_delete")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "offset_delete", b"")
    tell.ask_raw("half a body", "offset_delete", b"\0\x01")
