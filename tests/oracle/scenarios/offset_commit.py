from __future__ import annotations

from interfaces.kafka.wire.messages.join_group import JoinGroupResponse
from interfaces.kafka.wire.messages.offset_commit import OffsetCommitRequest
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest
from tests.oracle.groups import (
    JOIN,
    commit,
    committed,
    consumer_member,
    join,
    joined,
    pending,
    stable,
)
from tests.oracle.requests import UNKNOWN_ID, UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun, Topic

LEADER_EPOCHS, STATIC, NEW_PROTOCOL, BY_ID = 6, 7, 9, 10
#: In which what a group has committed is shown.
FETCH = 5


def everything(group_id: str) -> OffsetFetchRequest:
    return OffsetFetchRequest(group_id=group_id, topics=None)


@scenario("offset_commit")
def without_members(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a", 3)
    run.send("two partitions", commit(group, topic, 5, 7))
    run.send("one, with metadata", commit(group, topic, 6, metadata="here"))
    run.send("without metadata", commit(group, topic, 1, first=2, metadata=None))
    run.send("committed offsets", everything(group), FETCH)
    run.send("lower", commit(group, topic, 2))
    for offset in (-1, -2, -(1 << 63), (1 << 63) - 1):
        run.send(f"offset {offset}", commit(group, topic, offset))
    run.send("committed offsets then", everything(group), FETCH)
    run.send("no topics", OffsetCommitRequest(group_id=group))
    run.send("no partitions", commit(group, topic))
    if run.version >= LEADER_EPOCHS:
        for epoch in (0, 7, -2):
            run.send(f"leader epoch {epoch}", commit(group, topic, 8, leader_epoch=epoch))
            run.send(f"committed offsets with {epoch}", everything(group), FETCH)


@scenario("offset_commit")
def the_same_partition_twice(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    request = commit(group, topic, 5)
    request.topics[0].partitions += commit(group, topic, 6).topics[0].partitions
    run.send("in one topic", request)
    request = commit(group, topic, 7)
    request.topics += commit(group, topic, 8).topics
    run.send("in two topics", request)
    run.send("committed offsets", everything(group), FETCH)


@scenario("offset_commit")
def unknown_partitions(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a", 2)
    run.send("an unknown topic", commit(group, UNKNOWN_TOPIC, 1, 2))
    run.send("an unknown partition", commit(group, topic, 1, 2, 3))
    run.send("a negative partition", commit(group, topic, 1, first=-1))
    both = commit(group, topic, 4)
    both.topics += commit(group, UNKNOWN_TOPIC, 5).topics
    run.send("one of two topics", both)
    run.send("committed offsets", everything(group), FETCH)
    if run.version < BY_ID:
        run.send("an empty name", commit(group, Topic("", UNKNOWN_ID), 1))
        run.send("an illegal name", commit(group, Topic("a b", UNKNOWN_ID), 1))
    else:
        run.send("no id", commit(group, Topic(topic.name, bytes(16)), 1))
    empty = run.group("none")
    run.send("only unknown partitions", commit(empty, UNKNOWN_TOPIC, 1))
    run.send("no group is created", everything(empty), FETCH)


@scenario("offset_commit")
def metadata(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a", 2)
    run.send("4096 characters", commit(group, topic, 1, metadata="x" * 4096))
    run.send("4097 characters", commit(group, topic, 1, metadata="x" * 4097))
    run.send("4096 characters of two bytes", commit(group, topic, 1, metadata="é" * 4096))
    large = commit(group, topic, 1, metadata="x" * 5000)
    large.topics[0].partitions += commit(group, topic, 9, first=1).topics[0].partitions
    run.send("one of two is too large", large)


@scenario("offset_commit")
def members(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    _, mine, generation = joined(run, group)
    run.send("before the assignment", commit(group, topic, 1, member=(mine, generation)))
    _, mine, generation = stable(run, run.group("h"))
    group = run.group("h")
    run.send("a member", commit(group, topic, 2, member=(mine, generation)))
    run.send("a generation ahead", commit(group, topic, 3, member=(mine, generation + 1)))
    run.send("a generation behind", commit(group, topic, 3, member=(mine, generation - 1)))
    run.send("no generation", commit(group, topic, 3, member=(mine, -1)))
    run.send("a generation of -2", commit(group, topic, 3, member=(mine, -2)))
    run.send("an unknown member", commit(group, topic, 3, member=("nobody", generation)))
    run.send(
        "an unknown member with another generation", commit(group, topic, 3, member=("nobody", 9))
    )
    run.send("a generation alone", commit(group, topic, 3, member=("", generation)))
    run.send("neither", commit(group, topic, 3))
    run.send("committed offsets", everything(group), FETCH)
    second = pending(run, group)
    run.send("a pending member id", commit(group, topic, 3, member=(second, generation)))
    waiting = run.begin(join(group, second), "second", JOIN)
    run.wait_for_group(group, "PreparingRebalance", 2)
    run.send("while others join", commit(group, topic, 4, member=(mine, generation)))
    run.send("the pending member", commit(group, topic, 5, member=(second, generation)))
    run.send("neither, while others join", commit(group, topic, 6))
    run.call(join(group, mine), JoinGroupResponse, JOIN)
    run.end("the second has joined", waiting)
    run.send("the last generation", commit(group, topic, 7, member=(mine, generation)))
    run.send("no assignment yet", commit(group, topic, 7, member=(mine, generation + 1)))


@scenario("offset_commit")
def unknown_groups(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    run.send("a member", commit(group, topic, 1, member=("nobody", 1)))
    run.send("generation 0", commit(group, topic, 1, member=("", 0)))
    run.send("an id without generation", commit(group, topic, 1, member=("nobody", -1)))
    run.send("the created group", everything(group), FETCH)
    run.send("a generation in an empty group", commit(group, topic, 1, member=("nobody", 1)))
    run.send("generation 0 in an empty group", commit(group, topic, 1, member=("", 0)))
    run.send("a group without a name", commit("", topic, 1))
    run.send("a member of it", commit("", topic, 1, member=("nobody", 1)))


@scenario("offset_commit", first=STATIC)
def static_members(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    _, mine, generation = stable(run, group, group_instance_id="i")
    run.send("by both", commit(group, topic, 1, member=(mine, generation), instance="i"))
    run.send("by its member id alone", commit(group, topic, 2, member=(mine, generation)))
    other = ("nobody", generation)
    run.send("by another member id", commit(group, topic, 3, member=other, instance="i"))
    other = (mine, generation)
    run.send("by another instance id", commit(group, topic, 3, member=other, instance="j"))
    run.send("by its instance id alone", commit(group, topic, 3, instance="i"))


@scenario("offset_commit")
def members_of_a_consumer_group(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    epoch = consumer_member(run, group, "m", topic.name).member_epoch
    run.send("a member", commit(group, topic, 1, member=("m", epoch)))
    run.send("an epoch ahead", commit(group, topic, 2, member=("m", epoch + 1)))
    run.send("an epoch behind", commit(group, topic, 2, member=("m", epoch - 1)))
    run.send("no epoch", commit(group, topic, 2, member=("m", -1)))
    run.send("an unknown member", commit(group, topic, 2, member=("nobody", epoch)))
    run.send("neither", commit(group, topic, 2))
    run.send("committed offsets", everything(group), FETCH)


@scenario("offset_commit", last=4)
def retention_time(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a")
    for retention_ms in (0, 1, 60_000, -2):
        request = commit(group, topic, 5)
        request.retention_time_ms = retention_ms
        run.send(f"{retention_ms} ms", request)
    committed(run, group, topic, 6)


@scenario("offset_commit")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "offset_commit", b"")
    run.send_raw("half a body", "offset_commit", b"\0\x01")
