from __future__ import annotations

from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from interfaces.kafka.wire.messages.describe_groups import DescribeGroupsRequest
from interfaces.kafka.wire.messages.join_group import JoinGroupResponse
from interfaces.kafka.wire.messages.leave_group import LeaveGroupResponse
from tests.fakes.consumer_protocol import subscription
from tests.oracle.groups import (
    JOIN,
    STATIC,
    committed,
    join,
    joined,
    leave_all,
    modern_member,
    pending,
    stable,
)
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def asked(*groups: str) -> DescribeGroupsRequest:
    return DescribeGroupsRequest(groups=list(groups))


@scenario("describe_groups")
def every_state(tell: Teller) -> None:
    group = tell.group("g")
    tell.ask("one that is not there", asked(group))
    pending(tell, tell.group("pending"))
    tell.ask("an id was given", asked(tell.group("pending")))
    protocols = {"range": subscription("t"), "sticky": b"x"}
    first = stable(tell, group, protocols=protocols)
    tell.ask("stable", asked(group))
    second = pending(tell, group)
    waiting = tell.begin(join(group, second), "second", JOIN)
    tell.group_becomes(group, "PreparingRebalance", 2)
    tell.ask("preparing", asked(group))
    tell.call(join(group, first.member_id, protocols), JoinGroupResponse, JOIN)
    tell.end("the second joins", waiting)
    tell.ask("completing", asked(group))
    both = leave_all(group, first.member_id, second)
    tell.call(both, LeaveGroupResponse, STATIC)
    tell.ask("empty", asked(group))
    tell.call(DeleteGroupsRequest(groups_names=[group]), DeleteGroupsResponse, 1)
    tell.ask("deleted", asked(group))


@scenario("describe_groups")
def several(tell: Teller) -> None:
    group, other = tell.group("g"), tell.group("h")
    joined(tell, group, group_instance_id="i")
    committed(tell, other, tell.topic("a"), 1)
    tell.ask("three", asked(other, group, tell.group("none")))
    tell.ask("the same twice", asked(group, group))
    tell.ask("none", asked())
    tell.ask("an empty name", asked(""))


@scenario("describe_groups")
def one_of_the_other_kind(tell: Teller) -> None:
    group = tell.group("g")
    modern_member(tell, group, "m", tell.topic("a").name)
    tell.ask("ask", asked(group))


@scenario("describe_groups", first=3)
def authorized_operations(tell: Teller) -> None:
    group = tell.group("g")
    stable(tell, group)
    names = [group, tell.group("none")]
    request = DescribeGroupsRequest(groups=names, include_authorized_operations=True)
    tell.ask("ask", request)


@scenario("describe_groups")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "describe_groups", b"")
    tell.ask_raw("half a body", "describe_groups", b"\0\0\0" if tell.version < 5 else b"\x02\x09a")
