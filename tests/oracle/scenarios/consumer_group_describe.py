from __future__ import annotations

from interfaces.kafka.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from interfaces.kafka.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from tests.oracle.groups import beat, committed, consumer_member, stable
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


def request(*groups: str, operations: bool = False) -> ConsumerGroupDescribeRequest:
    return ConsumerGroupDescribeRequest(
        group_ids=list(groups), include_authorized_operations=operations
    )


@scenario("consumer_group_describe")
def every_state(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a", 2)
    run.send("an unknown group", request(group))
    consumer_member(run, group, "m", topic.name, rack_id="r")
    run.send("assigned but not confirmed", request(group))
    run.call(beat(group, "m", 1, owned={topic: [0, 1]}), ConsumerGroupHeartbeatResponse, 1)
    run.send("stable", request(group))
    consumer_member(run, group, "n", topic.name, instance_id="i")
    run.send("reconciling", request(group))
    response = run.call(beat(group, "m", 1), ConsumerGroupHeartbeatResponse, 1)
    [mine] = response.assignment.topic_partitions
    owned = beat(group, "m", 1, owned={topic: mine.partitions})
    run.call(owned, ConsumerGroupHeartbeatResponse, 1)
    run.send("half revoked", request(group))
    run.call(beat(group, "n", 2), ConsumerGroupHeartbeatResponse, 1)
    run.send("two members", request(group))
    away = beat(group, "n", -2, instance_id="i")
    run.call(away, ConsumerGroupHeartbeatResponse, 1)
    run.send("a static member is away", request(group))
    run.call(beat(group, "n", -1, instance_id="i"), ConsumerGroupHeartbeatResponse, 1)
    run.call(beat(group, "m", -1), ConsumerGroupHeartbeatResponse, 1)
    run.send("empty", request(group))
    run.call(DeleteGroupsRequest(groups_names=[group]), DeleteGroupsResponse, 1)
    run.send("deleted", request(group))


@scenario("consumer_group_describe")
def several(run: ScenarioRun) -> None:
    group, offsets, classic = run.group("g"), run.group("offsets"), run.group("classic")
    topic = run.topic("a")
    consumer_member(run, group, "m", topic.name)
    committed(run, offsets, topic, 1)
    stable(run, classic)
    run.send("one of each kind", request(group, offsets, classic, run.group("none")))
    run.send("the same twice", request(group, group))
    run.send("none", request())
    run.send("an empty name", request("", group))
    run.send("authorized operations", request(group, classic, operations=True))


@scenario("consumer_group_describe", first=1)
def subscription_by_pattern(run: ScenarioRun) -> None:
    group = run.group("g")
    subscribed = beat(
        group,
        "m",
        0,
        owned={},
        rebalance_timeout_ms=60_000,
        subscribed_topic_regex="nothing-.*",
        server_assignor="range",
    )
    run.call(subscribed, ConsumerGroupHeartbeatResponse, 1)
    run.send("request", request(group))


@scenario("consumer_group_describe")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "consumer_group_describe", b"")
    run.send_raw("half a body", "consumer_group_describe", b"\x02\x09a")
