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
    consumer_member,
    join,
    joined,
    leave_all,
    pending,
    stable,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


def request(*groups: str) -> DescribeGroupsRequest:
    return DescribeGroupsRequest(groups=list(groups))


@scenario("describe_groups")
def every_state(run: ScenarioRun) -> None:
    group = run.group("g")
    run.send("an unknown group", request(group))
    pending(run, run.group("pending"))
    run.send("a pending member", request(run.group("pending")))
    protocols = {"range": subscription("t"), "sticky": b"x"}
    first = stable(run, group, protocols=protocols)
    run.send("stable", request(group))
    second = pending(run, group)
    waiting = run.begin(join(group, second), "second", JOIN)
    run.wait_for_group(group, "PreparingRebalance", 2)
    run.send("preparing", request(group))
    run.call(join(group, first.member_id, protocols), JoinGroupResponse, JOIN)
    run.end("the second joins", waiting)
    run.send("completing", request(group))
    both = leave_all(group, first.member_id, second)
    run.call(both, LeaveGroupResponse, STATIC)
    run.send("empty", request(group))
    run.call(DeleteGroupsRequest(groups_names=[group]), DeleteGroupsResponse, 1)
    run.send("deleted", request(group))


@scenario("describe_groups")
def several(run: ScenarioRun) -> None:
    group, other = run.group("g"), run.group("h")
    joined(run, group, group_instance_id="i")
    committed(run, other, run.topic("a"), 1)
    run.send("three", request(other, group, run.group("none")))
    run.send("the same twice", request(group, group))
    run.send("none", request())
    run.send("an empty name", request(""))


@scenario("describe_groups")
def a_consumer_group(run: ScenarioRun) -> None:
    group = run.group("g")
    consumer_member(run, group, "m", run.topic("a").name)
    run.send("request", request(group))


@scenario("describe_groups", first=3)
def authorized_operations(run: ScenarioRun) -> None:
    group = run.group("g")
    stable(run, group)
    names = [group, run.group("none")]
    request = DescribeGroupsRequest(groups=names, include_authorized_operations=True)
    run.send("request", request)


@scenario("describe_groups")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_groups", b"")
    run.send_raw("half a body", "describe_groups", b"\0\0\0" if run.version < 5 else b"\x02\x09a")
