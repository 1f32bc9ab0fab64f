from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from interfaces.kafka.wire.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest
from tests.oracle.groups import (
    SEVERAL_GROUPS,
    beat,
    committed,
    consumer_member,
    fetch_offsets,
    offsets_of,
    stable,
)
from tests.oracle.requests import UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun, Topic

ALL, STABLE, MEMBERS, BY_ID = 2, 7, 9, 10


@scenario("offset_fetch")
def some_or_all_partitions(run: ScenarioRun) -> None:
    group, one, two = run.group("g"), run.topic("a", 3), run.topic("b")
    committed(run, group, one, 5, 7, metadata="here", leader_epoch=3)
    committed(run, group, two, 9, metadata=None)
    run.send("one", fetch_offsets(run, group, {one: [0]}))
    run.send("a partition without a commit", fetch_offsets(run, group, {one: [2]}))
    run.send("several", fetch_offsets(run, group, {two: [0], one: [2, 1, 0]}))
    run.send("the same twice", fetch_offsets(run, group, {one: [0, 0]}))
    run.send("an unknown partition", fetch_offsets(run, group, {one: [9, -1]}))
    run.send("an unknown topic", fetch_offsets(run, group, {UNKNOWN_TOPIC: [0, 1]}))
    run.send("one of them", fetch_offsets(run, group, {UNKNOWN_TOPIC: [0], two: [0]}))
    run.send("no partitions", fetch_offsets(run, group, {one: []}))
    run.send("no topics", fetch_offsets(run, group, {}))
    if run.version >= ALL:
        run.send("all", fetch_offsets(run, group, None))
    if run.version >= BY_ID:
        run.send("no id", fetch_offsets(run, group, {Topic("", bytes(16)): [0]}))
    if run.version >= STABLE:
        run.send("require stable", fetch_offsets(run, group, {one: [0]}, require_stable=True))


@scenario("offset_fetch")
def unknown_groups(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    run.send("one", fetch_offsets(run, group, {topic: [0]}))
    run.send("a group without a name", fetch_offsets(run, "", {topic: [0]}))
    if run.version >= ALL:
        run.send("all", fetch_offsets(run, group, None))
    stable(run, run.group("fresh"))
    run.send("a group without offsets", fetch_offsets(run, run.group("fresh"), {topic: [0]}))


@scenario("offset_fetch")
def deleted_topics(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    committed(run, group, topic, 5)
    gone = DeleteTopicsRequest(topic_names=[topic.name], timeout_ms=10_000)
    run.call(gone, DeleteTopicsResponse, 5)
    run.wait_for_partitions(topic.name, 0)
    run.wait_for_no_offsets(group)
    run.send("deleted", fetch_offsets(run, group, {topic: [0]}))
    again = run.topic("a")
    run.send("created again", fetch_offsets(run, group, {again: [0]}))
    if run.version >= ALL:
        run.send("all", fetch_offsets(run, group, None))


@scenario("offset_fetch", first=SEVERAL_GROUPS)
def several_groups(run: ScenarioRun) -> None:
    one, two, none, topic = (run.group("g"), run.group("h"), run.group("i"), run.topic("a"))
    committed(run, one, topic, 5)
    committed(run, two, topic, 7)
    offsets = {topic: [0]}
    groups = [offsets_of(two, offsets), offsets_of(none, offsets), offsets_of(one, None)]
    run.send("three", OffsetFetchRequest(groups=groups))
    run.send("the same twice", OffsetFetchRequest(groups=[offsets_of(one, offsets)] * 2))
    run.send("none", OffsetFetchRequest(groups=[]))
    unnamed = [offsets_of("", offsets), offsets_of(one, offsets)]
    run.send("one without a name", OffsetFetchRequest(groups=unnamed))


@scenario("offset_fetch", first=MEMBERS)
def members_of_a_consumer_group(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    epoch = consumer_member(run, group, "m", topic.name).member_epoch
    offsets = {topic: [0]}

    def by(step: str, member_id: str | None, member_epoch: int) -> None:
        member: dict[str, Any] = {"member_id": member_id, "member_epoch": member_epoch}
        run.send(step, fetch_offsets(run, group, offsets, **member))
        run.send(f"{step}: all", fetch_offsets(run, group, None, **member))

    by("a member", "m", epoch)
    by("an epoch ahead", "m", epoch + 1)
    by("an epoch behind", "m", epoch - 1)
    by("no epoch", "m", -1)
    by("an unknown member", "nobody", epoch)
    by("an epoch alone", None, epoch)
    by("an empty id", "", epoch)
    by("neither", None, -1)
    run.call(beat(group, "m", -1), ConsumerGroupHeartbeatResponse, 1)
    by("a member that has left", "m", epoch)


@scenario("offset_fetch", first=MEMBERS)
def classic_members(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    own = stable(run, group)
    offsets = {topic: [0]}

    def by(step: str, member_id: str | None, member_epoch: int) -> None:
        member: dict[str, Any] = {"member_id": member_id, "member_epoch": member_epoch}
        run.send(step, fetch_offsets(run, group, offsets, **member))

    by("a member", own.member_id, own.generation)
    by("a generation ahead", own.member_id, own.generation + 1)
    by("an unknown member", "nobody", own.generation)
    group = run.group("none")
    by("no group", "nobody", 1)


@scenario("offset_fetch")
def fetch_without_member_id(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    stable(run, group)
    run.send("a classic group with a member", fetch_offsets(run, group, {topic: [0]}))
    consumer_member(run, run.group("modern"), "m", topic.name)
    run.send("a consumer group", fetch_offsets(run, run.group("modern"), {topic: [0]}))


@scenario("offset_fetch")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "offset_fetch", b"")
    run.send_raw("half a body", "offset_fetch", b"\0\x01")
    if run.version == 1:
        run.send_raw("null topics", "offset_fetch", b"\0\x01g\xff\xff\xff\xff")
