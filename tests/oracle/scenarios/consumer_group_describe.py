from __future__ import annotations

from interfaces.kafka.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from interfaces.kafka.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from tests.oracle.groups import committed, modern, modern_member, stable
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def asked(*groups: str, operations: bool = False) -> ConsumerGroupDescribeRequest:
    return ConsumerGroupDescribeRequest(
        group_ids=list(groups), include_authorized_operations=operations
    )


@scenario("consumer_group_describe")
def every_state(tell: Teller) -> None:
    group, topic = tell.group("g"), tell.topic("a", 2)
    tell.ask("one that is not there", asked(group))
    modern_member(tell, group, "m", topic.name, rack_id="r")
    tell.ask("it has not said that it has them", asked(group))
    tell.call(modern(group, "m", 1, owned={topic: [0, 1]}), ConsumerGroupHeartbeatResponse, 1)
    tell.ask("stable", asked(group))
    modern_member(tell, group, "n", topic.name, instance_id="i")
    tell.ask("reconciling", asked(group))
    kept = modern(group, "m", 1)
    answer = tell.call(kept, ConsumerGroupHeartbeatResponse, 1)
    [mine] = answer.assignment.topic_partitions
    owned = modern(group, "m", 1, owned={topic: mine.partitions})
    tell.call(owned, ConsumerGroupHeartbeatResponse, 1)
    tell.ask("half of it is given away", asked(group))
    tell.call(modern(group, "n", 2), ConsumerGroupHeartbeatResponse, 1)
    tell.ask("two members", asked(group))
    away = modern(group, "n", -2, instance_id="i")
    tell.call(away, ConsumerGroupHeartbeatResponse, 1)
    tell.ask("one is away", asked(group))
    tell.call(modern(group, "n", -1, instance_id="i"), ConsumerGroupHeartbeatResponse, 1)
    tell.call(modern(group, "m", -1), ConsumerGroupHeartbeatResponse, 1)
    tell.ask("empty", asked(group))
    tell.call(DeleteGroupsRequest(groups_names=[group]), DeleteGroupsResponse, 1)
    tell.ask("deleted", asked(group))


@scenario("consumer_group_describe")
def several(tell: Teller) -> None:
    group, offsets, classic = tell.group("g"), tell.group("offsets"), tell.group("classic")
    topic = tell.topic("a")
    modern_member(tell, group, "m", topic.name)
    committed(tell, offsets, topic, 1)
    stable(tell, classic)
    tell.ask("one of each kind", asked(group, offsets, classic, tell.group("none")))
    tell.ask("the same twice", asked(group, group))
    tell.ask("none", asked())
    tell.ask("an empty name", asked("", group))
    tell.ask("authorized operations", asked(group, classic, operations=True))


@scenario("consumer_group_describe", first=1)
def a_pattern(tell: Teller) -> None:
    group = tell.group("g")
    wanted = modern(
        group,
        "m",
        0,
        owned={},
        rebalance_timeout_ms=60_000,
        subscribed_topic_regex="nothing-.*",
        server_assignor="range",
    )
    tell.call(wanted, ConsumerGroupHeartbeatResponse, 1)
    tell.ask("ask", asked(group))


@scenario("consumer_group_describe")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "consumer_group_describe", b"")
    tell.ask_raw("half a body", "consumer_group_describe", b"\x02\x09a")
