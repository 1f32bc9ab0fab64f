from __future__ import annotations

from interfaces.kafka.wire.messages.leave_group import LeaveGroupResponse
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest
from tests.fakes.consumer_protocol import subscription
from tests.oracle.groups import (
    STATIC,
    committed,
    consumer_member,
    delete_offsets,
    leave_all,
    stable,
)
from tests.oracle.requests import UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

FETCH = 5


def everything(group_id: str) -> OffsetFetchRequest:
    return OffsetFetchRequest(group_id=group_id, topics=None)


@scenario("offset_delete")
def without_members(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a", 3)
    committed(run, group, topic, 5, 6, 7)
    run.send("one", delete_offsets(group, {topic: [1]}))
    run.send("remaining offsets", everything(group), FETCH)
    run.send("again", delete_offsets(group, {topic: [1]}))
    run.send("an unknown topic", delete_offsets(group, {UNKNOWN_TOPIC: [0]}))
    run.send("an unknown partition", delete_offsets(group, {topic: [9, -1]}))
    run.send("the same twice", delete_offsets(group, {topic: [2, 2]}))
    run.send("no partitions", delete_offsets(group, {topic: []}))
    run.send("no topics", delete_offsets(group, {}))
    run.send("the last one", delete_offsets(group, {topic: [0]}))
    run.send("after the last one", delete_offsets(group, {topic: [0]}))


@scenario("offset_delete")
def unknown_groups(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("unknown", delete_offsets(run.group("none"), {topic: [0]}))
    run.send("without a name", delete_offsets("", {topic: [0]}))


@scenario("offset_delete")
def subscribed_topics(run: ScenarioRun) -> None:
    group, one, two = run.group("g"), run.topic("a"), run.topic("b")
    member = stable(run, group, protocols={"range": subscription(one.name)})
    who = (member.member_id, member.generation)
    committed(run, group, one, 5, member=who)
    committed(run, group, two, 6, member=who)
    run.send("both", delete_offsets(group, {one: [0], two: [0]}))
    run.send("remaining offsets", everything(group), FETCH)
    run.send("subscribed, an unknown partition", delete_offsets(group, {one: [7]}))
    run.call(leave_all(group, member.member_id), LeaveGroupResponse, STATIC)
    run.send("after the member has left", delete_offsets(group, {one: [0]}))


@scenario("offset_delete")
def another_protocol_type(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    member = stable(run, group, protocol_type="connect")
    committed(run, group, topic, 5, member=(member.member_id, member.generation))
    run.send("request", delete_offsets(group, {topic: [0]}))


@scenario("offset_delete")
def unreadable_subscriptions(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    member = stable(run, group)
    committed(run, group, topic, 5, member=(member.member_id, member.generation))
    run.send("request", delete_offsets(group, {topic: [0]}))


@scenario("offset_delete")
def members_of_a_consumer_group(run: ScenarioRun) -> None:
    group, one, two = run.group("g"), run.topic("a"), run.topic("b")
    epoch = consumer_member(run, group, "m", one.name).member_epoch
    committed(run, group, one, 5, member=("m", epoch))
    committed(run, group, two, 6, member=("m", epoch))
    run.send("both", delete_offsets(group, {one: [0], two: [0]}))


@scenario("offset_delete")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "offset_delete", b"")
    run.send_raw("half a body", "offset_delete", b"\0\x01")
