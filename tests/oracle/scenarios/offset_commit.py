from __future__ import annotations

from interfaces.kafka.wire.messages.join_group import JoinGroupResponse
from interfaces.kafka.wire.messages.offset_commit import OffsetCommitRequest
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest
from tests.oracle.groups import (
    JOIN,
    commit,
    committed,
    join,
    joined,
    modern_member,
    pending,
    stable,
)
from tests.oracle.requests import NOBODY, UNKNOWN_ID
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller, Topic

LEADER_EPOCHS, STATIC, NEW_PROTOCOL, BY_ID = 6, 7, 9, 10
#: In which what a group has committed is shown.
FETCH = 5


def everything(group_id: str) -> OffsetFetchRequest:
    return OffsetFetchRequest(group_id=group_id, topics=None)


@scenario("offset_commit")
def without_members(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a", 3)
    tell.ask("two partitions", commit(group, topic, 5, 7))
    tell.ask("one, with metadata", commit(group, topic, 6, metadata="here"))
    tell.ask("without metadata", commit(group, topic, 1, first=2, metadata=None))
    tell.ask("what is there", everything(group), FETCH)
    tell.ask("lower", commit(group, topic, 2))
    for offset in (-1, -2, -(1 << 63), (1 << 63) - 1):
        tell.ask(f"offset {offset}", commit(group, topic, offset))
    tell.ask("what is there then", everything(group), FETCH)
    tell.ask("no topics", OffsetCommitRequest(group_id=group))
    tell.ask("no partitions", commit(group, topic))
    if tell.version >= LEADER_EPOCHS:
        for epoch in (0, 7, -2):
            tell.ask(f"leader epoch {epoch}", commit(group, topic, 8, leader_epoch=epoch))
            tell.ask(f"what is there with {epoch}", everything(group), FETCH)


@scenario("offset_commit")
def the_same_partition_twice(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    request = commit(group, topic, 5)
    request.topics[0].partitions += commit(group, topic, 6).topics[0].partitions
    tell.ask("in one topic", request)
    request = commit(group, topic, 7)
    request.topics += commit(group, topic, 8).topics
    tell.ask("in two", request)
    tell.ask("what is there", everything(group), FETCH)


@scenario("offset_commit")
def partitions_that_are_not_there(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a", 2)
    tell.ask("an unknown topic", commit(group, NOBODY, 1, 2))
    tell.ask("an unknown partition", commit(group, topic, 1, 2, 3))
    tell.ask("a negative partition", commit(group, topic, 1, first=-1))
    both = commit(group, topic, 4)
    both.topics += commit(group, NOBODY, 5).topics
    tell.ask("one of two topics", both)
    tell.ask("what is there", everything(group), FETCH)
    if tell.version < BY_ID:
        tell.ask("an empty name", commit(group, Topic("", UNKNOWN_ID), 1))
        tell.ask("an illegal name", commit(group, Topic("a b", UNKNOWN_ID), 1))
    else:
        tell.ask("no id", commit(group, Topic(topic.name, bytes(16)), 1))
    empty = tell.group("none")
    tell.ask("nothing that is there", commit(empty, NOBODY, 1))
    tell.ask("of which nothing is left", everything(empty), FETCH)


@scenario("offset_commit")
def metadata(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a", 2)
    tell.ask("4096 characters", commit(group, topic, 1, metadata="x" * 4096))
    tell.ask("4097 characters", commit(group, topic, 1, metadata="x" * 4097))
    tell.ask("4096 characters of two bytes", commit(group, topic, 1, metadata="é" * 4096))
    large = commit(group, topic, 1, metadata="x" * 5000)
    large.topics[0].partitions += commit(group, topic, 9, first=1).topics[0].partitions
    tell.ask("one of two is too large", large)


@scenario("offset_commit")
def members(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    _, mine, generation = joined(tell, group)
    tell.ask("before the assignment", commit(group, topic, 1, member=(mine, generation)))
    _, mine, generation = stable(tell, tell.group("h"))
    group = tell.group("h")
    tell.ask("a member", commit(group, topic, 2, member=(mine, generation)))
    tell.ask("a generation ahead", commit(group, topic, 3, member=(mine, generation + 1)))
    tell.ask("a generation behind", commit(group, topic, 3, member=(mine, generation - 1)))
    tell.ask("no generation", commit(group, topic, 3, member=(mine, -1)))
    tell.ask("a generation of -2", commit(group, topic, 3, member=(mine, -2)))
    tell.ask("nobody", commit(group, topic, 3, member=("nobody", generation)))
    tell.ask("nobody, with another generation", commit(group, topic, 3, member=("nobody", 9)))
    tell.ask("a generation alone", commit(group, topic, 3, member=("", generation)))
    tell.ask("neither", commit(group, topic, 3))
    tell.ask("what is there", everything(group), FETCH)
    second = pending(tell, group)
    tell.ask("an id that has not joined", commit(group, topic, 3, member=(second, generation)))
    waiting = tell.begin(join(group, second), "second", JOIN)
    tell.group_becomes(group, "PreparingRebalance", 2)
    tell.ask("while others join", commit(group, topic, 4, member=(mine, generation)))
    tell.ask("the one that waits", commit(group, topic, 5, member=(second, generation)))
    tell.ask("neither, while others join", commit(group, topic, 6))
    tell.call(join(group, mine), JoinGroupResponse, JOIN)
    tell.end("the second has joined", waiting)
    tell.ask("the last generation", commit(group, topic, 7, member=(mine, generation)))
    tell.ask("no assignment yet", commit(group, topic, 7, member=(mine, generation + 1)))


@scenario("offset_commit")
def groups_that_are_not_there(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    tell.ask("a member", commit(group, topic, 1, member=("nobody", 1)))
    tell.ask("generation 0", commit(group, topic, 1, member=("", 0)))
    tell.ask("an id without generation", commit(group, topic, 1, member=("nobody", -1)))
    tell.ask("that made it", everything(group), FETCH)
    tell.ask("a generation in an empty group", commit(group, topic, 1, member=("nobody", 1)))
    tell.ask("generation 0 in an empty group", commit(group, topic, 1, member=("", 0)))
    tell.ask("a group without a name", commit("", topic, 1))
    tell.ask("a member of it", commit("", topic, 1, member=("nobody", 1)))


@scenario("offset_commit", first=STATIC)
def static_members(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    _, mine, generation = stable(tell, group, group_instance_id="i")
    tell.ask("by both", commit(group, topic, 1, member=(mine, generation), instance="i"))
    tell.ask("by its id alone", commit(group, topic, 2, member=(mine, generation)))
    other = ("nobody", generation)
    tell.ask("by another id", commit(group, topic, 3, member=other, instance="i"))
    other = (mine, generation)
    tell.ask("by another name", commit(group, topic, 3, member=other, instance="j"))
    tell.ask("by its name alone", commit(group, topic, 3, instance="i"))


@scenario("offset_commit")
def members_of_the_other_kind(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    epoch = modern_member(tell, group, "m", topic.name).member_epoch
    tell.ask("a member", commit(group, topic, 1, member=("m", epoch)))
    tell.ask("an epoch ahead", commit(group, topic, 2, member=("m", epoch + 1)))
    tell.ask("an epoch behind", commit(group, topic, 2, member=("m", epoch - 1)))
    tell.ask("no epoch", commit(group, topic, 2, member=("m", -1)))
    tell.ask("nobody", commit(group, topic, 2, member=("nobody", epoch)))
    tell.ask("neither", commit(group, topic, 2))
    tell.ask("what is there", everything(group), FETCH)


@scenario("offset_commit", last=4)
def how_long_to_keep_it(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    for retention_ms in (0, 1, 60_000, -2):
        request = commit(group, topic, 5)
        request.retention_time_ms = retention_ms
        tell.ask(f"{retention_ms} ms", request)
    committed(tell, group, topic, 6)


@scenario("offset_commit")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "offset_commit", b"")
    tell.ask_raw("half a body", "offset_commit", b"\0\x01")
