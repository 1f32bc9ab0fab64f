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
    committed,
    fetch_offsets,
    modern,
    modern_member,
    offsets_of,
    stable,
)
from tests.oracle.requests import NOBODY
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller, Topic

ALL, STABLE, MEMBERS, BY_ID = 2, 7, 9, 10


@scenario("offset_fetch")
def some_and_all(tell: Teller) -> None:
    group, one, two = tell.group("g"), tell.topic("a", 3), tell.topic("b")
    committed(tell, group, one, 5, 7, metadata="here", leader_epoch=3)
    committed(tell, group, two, 9, metadata=None)
    tell.ask("one", fetch_offsets(tell, group, {one: [0]}))
    tell.ask("one that was not committed", fetch_offsets(tell, group, {one: [2]}))
    tell.ask("several", fetch_offsets(tell, group, {two: [0], one: [2, 1, 0]}))
    tell.ask("the same twice", fetch_offsets(tell, group, {one: [0, 0]}))
    tell.ask("a partition that is not there", fetch_offsets(tell, group, {one: [9, -1]}))
    tell.ask("a topic that is not there", fetch_offsets(tell, group, {NOBODY: [0, 1]}))
    tell.ask("one of them", fetch_offsets(tell, group, {NOBODY: [0], two: [0]}))
    tell.ask("no partitions", fetch_offsets(tell, group, {one: []}))
    tell.ask("no topics", fetch_offsets(tell, group, {}))
    if tell.version >= ALL:
        tell.ask("all", fetch_offsets(tell, group, None))
    if tell.version >= BY_ID:
        tell.ask("no id", fetch_offsets(tell, group, {Topic("", bytes(16)): [0]}))
    if tell.version >= STABLE:
        tell.ask("stable ones", fetch_offsets(tell, group, {one: [0]}, require_stable=True))


@scenario("offset_fetch")
def groups_that_are_not_there(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    tell.ask("one", fetch_offsets(tell, group, {topic: [0]}))
    tell.ask("a group without a name", fetch_offsets(tell, "", {topic: [0]}))
    if tell.version >= ALL:
        tell.ask("all", fetch_offsets(tell, group, None))
    stable(tell, tell.group("fresh"))
    tell.ask("a group without offsets", fetch_offsets(tell, tell.group("fresh"), {topic: [0]}))


@scenario("offset_fetch")
def topics_that_are_gone(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    committed(tell, group, topic, 5)
    gone = DeleteTopicsRequest(topic_names=[topic.name], timeout_ms=10_000)
    tell.call(gone, DeleteTopicsResponse, 5)
    tell.settle(topic.name, 0)
    tell.offsets_vanish(group)
    tell.ask("deleted", fetch_offsets(tell, group, {topic: [0]}))
    again = tell.topic("a")
    tell.ask("and created again", fetch_offsets(tell, group, {again: [0]}))
    if tell.version >= ALL:
        tell.ask("all", fetch_offsets(tell, group, None))


@scenario("offset_fetch", first=SEVERAL_GROUPS)
def several_groups(tell: Teller) -> None:
    one, two, none, topic = (tell.group("g"), tell.group("h"), tell.group("i"), tell.topic("a"))
    committed(tell, one, topic, 5)
    committed(tell, two, topic, 7)
    wanted = {topic: [0]}
    asked = [offsets_of(two, wanted), offsets_of(none, wanted), offsets_of(one, None)]
    tell.ask("three", OffsetFetchRequest(groups=asked))
    tell.ask("the same twice", OffsetFetchRequest(groups=[offsets_of(one, wanted)] * 2))
    tell.ask("none", OffsetFetchRequest(groups=[]))
    unnamed = [offsets_of("", wanted), offsets_of(one, wanted)]
    tell.ask("one without a name", OffsetFetchRequest(groups=unnamed))


@scenario("offset_fetch", first=MEMBERS)
def members(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    epoch = modern_member(tell, group, "m", topic.name).member_epoch
    wanted = {topic: [0]}

    def by(step: str, member_id: str | None, member_epoch: int) -> None:
        who: dict[str, Any] = {"member_id": member_id, "member_epoch": member_epoch}
        tell.ask(step, fetch_offsets(tell, group, wanted, **who))
        tell.ask(f"{step}: all", fetch_offsets(tell, group, None, **who))

    by("a member", "m", epoch)
    by("an epoch ahead", "m", epoch + 1)
    by("an epoch behind", "m", epoch - 1)
    by("no epoch", "m", -1)
    by("nobody", "nobody", epoch)
    by("an epoch alone", None, epoch)
    by("an empty id", "", epoch)
    by("neither", None, -1)
    tell.call(modern(group, "m", -1), ConsumerGroupHeartbeatResponse, 1)
    by("one that has left", "m", epoch)


@scenario("offset_fetch", first=MEMBERS)
def members_of_the_other_kind(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    member = stable(tell, group)
    wanted = {topic: [0]}

    def by(step: str, member_id: str | None, member_epoch: int) -> None:
        who: dict[str, Any] = {"member_id": member_id, "member_epoch": member_epoch}
        tell.ask(step, fetch_offsets(tell, group, wanted, **who))

    by("a member", member.member_id, member.generation)
    by("a generation ahead", member.member_id, member.generation + 1)
    by("nobody", "nobody", member.generation)
    group = tell.group("none")
    by("no group", "nobody", 1)


@scenario("offset_fetch")
def members_are_not_asked_who_they_are(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a")
    stable(tell, group)
    tell.ask("a live group", fetch_offsets(tell, group, {topic: [0]}))
    modern_member(tell, tell.group("modern"), "m", topic.name)
    tell.ask("one of the other kind", fetch_offsets(tell, tell.group("modern"), {topic: [0]}))


@scenario("offset_fetch")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "offset_fetch", b"")
    tell.ask_raw("half a body", "offset_fetch", b"\0\x01")
    if tell.version == 1:
        tell.ask_raw("null topics", "offset_fetch", b"\0\x01g\xff\xff\xff\xff")
