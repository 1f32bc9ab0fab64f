from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from interfaces.kafka.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from interfaces.kafka.wire.messages.describe_groups import DescribeGroupsRequest
from tests.fakes.consumer_protocol import assignment, subscription
from tests.oracle.groups import (
    HEARTBEAT,
    JOIN,
    STATIC,
    SYNC,
    beat,
    commit,
    committed,
    heartbeat,
    join,
    known_topic,
    leave_all,
    stable,
    sync,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

OWN_IDS = 1


def enter(run: ScenarioRun, step: str, name: str, group_id: str, *topics: str, **more: Any) -> Any:
    """A new member; in version 0 the broker assigns its id."""
    member_id = name if run.version >= OWN_IDS else ""
    return run.send(step, beat(group_id, member_id, 0, *topics, **more))


@scenario("consumer_group_heartbeat")
def a_single_member(run: ScenarioRun) -> None:
    group, topic = run.group("g"), known_topic(run, "a", 3)
    member = enter(run, "joins", "m", group, topic.name)
    mine, epoch = member.member_id, member.member_epoch
    run.send("unchanged", beat(group, mine, epoch))
    run.send("confirms all", beat(group, mine, epoch, owned={topic: [0, 1, 2]}))
    run.send("again", beat(group, mine, epoch))
    run.send("confirms some", beat(group, mine, epoch, owned={topic: [1]}))
    everything = beat(group, mine, epoch, topic.name, owned={topic: [0, 1, 2]})
    run.send("full heartbeat", everything)
    run.send("leaves", beat(group, mine, -1))
    run.send("leaves again", beat(group, mine, -1))
    run.send("after it left", beat(group, mine, epoch))
    run.send("rejoins", beat(group, mine, 0, topic.name))


@scenario("consumer_group_heartbeat")
def a_second_member(run: ScenarioRun) -> None:
    group, topic = run.group("g"), known_topic(run, "a", 2)
    first = enter(run, "the first joins", "m", group, topic.name)
    one = first.member_id
    run.send("the first confirms all", beat(group, one, 1, owned={topic: [0, 1]}))
    second = enter(run, "the second joins", "n", group, topic.name)
    two = second.member_id
    run.send("the second waits", beat(group, two, second.member_epoch))
    remaining = _partitions(run.send("the first has to revoke some", beat(group, one, 1)))
    run.send("the first has not revoked yet", beat(group, one, 1, owned={topic: [0, 1]}))
    run.send("the second still waits", beat(group, two, second.member_epoch))
    run.send("the first revokes", beat(group, one, 1, owned={topic: remaining}))
    run.send("the second gets the rest", beat(group, two, second.member_epoch))
    rest = [one for one in (0, 1) if one not in remaining]
    run.send("the second confirms", beat(group, two, 2, owned={topic: rest}))
    run.send("the first gets the new epoch", beat(group, one, 2))
    run.send("the second leaves", beat(group, two, -1))
    run.send("the first gets all again", beat(group, one, 2))


@scenario("consumer_group_heartbeat")
def lost_responses(run: ScenarioRun) -> None:
    """The broker repeats an assignment only in the response to a full heartbeat."""
    group, topic = run.group("g"), known_topic(run, "a", 2)
    one = enter(run, "the first joins", "m", group, topic.name).member_id
    run.send("the first confirms all", beat(group, one, 1, owned={topic: [0, 1]}))
    two = enter(run, "the second joins", "n", group, topic.name).member_id
    lost = run.send("the first has to revoke some, response lost", beat(group, one, 1))
    run.send("the first sends a short heartbeat", beat(group, one, 1))
    run.send("the first sends its partitions", beat(group, one, 1, owned={topic: [0, 1]}))
    run.send("the second waits", beat(group, two, 2))
    everything = beat(group, one, 1, topic.name, owned={topic: [0, 1]})
    run.send("the first sends a full heartbeat", everything)
    run.send("the first revokes them", beat(group, one, 1, owned={topic: _partitions(lost)}))
    run.send("the second gets them, response lost", beat(group, two, 2))
    run.send("the second sends a short heartbeat", beat(group, two, 2))
    run.send("the second sends a full heartbeat", beat(group, two, 2, topic.name, owned={}))


def _partitions(response: Any) -> list[int]:
    return sorted(
        number for topic in response.assignment.topic_partitions for number in topic.partitions
    )


@scenario("consumer_group_heartbeat")
def epochs(run: ScenarioRun) -> None:
    group, one, two = run.group("g"), known_topic(run, "a"), known_topic(run, "b")
    mine = enter(run, "joins", "m", group, one.name).member_id
    run.send("ahead", beat(group, mine, 2))
    run.send("far ahead", beat(group, mine, 1 << 30))
    run.send("another topic", beat(group, mine, 1, one.name, two.name, owned={one: [0]}))
    run.send("the last epoch, all of it", beat(group, mine, 1, owned={one: [0], two: [0]}))
    run.send("the last epoch, some of it", beat(group, mine, 1, owned={one: [0]}))
    run.send("the last epoch", beat(group, mine, 1))
    run.send("joins again", beat(group, mine, 0, one.name, two.name))
    run.send("-2 without an instance", beat(group, mine, -2))
    run.send("-3", beat(group, mine, -3))


@scenario("consumer_group_heartbeat")
def refusals(run: ScenarioRun) -> None:
    group, topic = run.group("g"), known_topic(run, "a")
    mine = enter(run, "joins", "m", group, topic.name).member_id
    run.send("an empty group", beat("", "m", 0, topic.name))
    run.send("a blank group", beat(" ", "m", 0, topic.name))
    run.send("no id", beat(group, "", 0, topic.name))
    run.send("no id, and an epoch", beat(group, "", 1))
    run.send("an unknown member", beat(group, "nobody", 1))
    run.send("an unknown member leaves", beat(group, "nobody", -1))
    run.send("an unknown group", beat(run.group("none"), "nobody", 1))
    run.send("leaves an unknown group", beat(run.group("none"), "nobody", -1))
    run.send("no timeout", beat(group, "n", 0, topic.name, rebalance_timeout_ms=-1))
    run.send(
        "a timeout of 0", beat(run.group("timeout"), "n", 0, topic.name, rebalance_timeout_ms=0)
    )
    run.send(
        "no partitions",
        ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id="n",
            member_epoch=0,
            rebalance_timeout_ms=5_000,
            subscribed_topic_names=[topic.name],
        ),
    )
    run.send("partitions when it joins", beat(group, "n", 0, topic.name, owned={topic: [0]}))
    run.send("nothing subscribed", beat(group, "n", 0, owned={}, rebalance_timeout_ms=5_000))
    run.send(
        "no topics",
        beat(
            run.group("no topics"),
            "n",
            0,
            owned={},
            rebalance_timeout_ms=5_000,
            subscribed_topic_names=[],
        ),
    )
    run.send("an unknown assignor", beat(group, "n", 0, topic.name, server_assignor="sticky"))
    run.send("an empty assignor", beat(group, "n", 0, topic.name, server_assignor=""))
    run.send("an empty instance", beat(group, "n", 0, topic.name, instance_id=""))
    run.send("an empty rack", beat(group, "n", 0, topic.name, rack_id=""))
    run.send("an unknown assignor, later", beat(group, mine, 1, server_assignor="sticky"))


@scenario("consumer_group_heartbeat")
def created_extended_and_deleted_topics(run: ScenarioRun) -> None:
    group = run.group("g")
    name = run.name("late")
    mine = enter(run, "joins for an unknown topic", "m", group, name).member_id
    late = run.topic("late", 2)
    response = _until_epoch(run, group, mine, 1)
    run.send("confirms both", beat(group, mine, response, owned={late: [0, 1]}))
    more = [CreatePartitionsTopic(name=name, count=3, assignments=None)]
    run.call(CreatePartitionsRequest(topics=more, timeout_ms=10_000), CreatePartitionsResponse, 3)
    run.wait_for_partitions(name, 3)
    response = _until_epoch(run, group, mine, response)
    run.send("confirms three", beat(group, mine, response, owned={late: [0, 1, 2]}))
    gone = DeleteTopicsRequest(topic_names=[name], timeout_ms=10_000)
    run.call(gone, DeleteTopicsResponse, 5)
    run.wait_for_partitions(name, 0)
    response = _until_epoch(run, group, mine, response)
    run.send("confirms none", beat(group, mine, response, owned={}))


def _until_epoch(run: ScenarioRun, group_id: str, member_id: str, above: int) -> int:
    """Waits until the coordinator knows the topic; Kafka may request a revocation before."""
    for _ in range(5_000):
        response = run.call(beat(group_id, member_id, above), ConsumerGroupHeartbeatResponse, 1)
        assert response.error_code == 0, response
        if response.member_epoch > above or response.assignment is not None:
            epoch: int = response.member_epoch
            return epoch
    raise AssertionError(f"the epoch never rose above {above}")


@scenario("consumer_group_heartbeat")
def assignors(run: ScenarioRun) -> None:
    for name in ("range", "uniform"):
        group, one, two = (
            run.group(name),
            known_topic(run, f"{name}-a", 3),
            known_topic(run, f"{name}-b", 3),
        )
        entered = enter(run, f"{name}: joins", "m", group, one.name, two.name, server_assignor=name)
        both = {one: [0, 1, 2], two: [0, 1, 2]}
        run.send(f"{name}: confirms all", beat(group, entered.member_id, 1, owned=both))
        other = "uniform" if name == "range" else "range"
        run.send(
            f"{name}: requests {other}", beat(group, entered.member_id, 1, server_assignor=other)
        )


@scenario("consumer_group_heartbeat", first=OWN_IDS)
def two_members_by_range(run: ScenarioRun) -> None:
    group, one, two = run.group("g"), known_topic(run, "a", 3), known_topic(run, "b", 2)
    names = (one.name, two.name)
    run.send("the first joins", beat(group, "m", 0, *names, server_assignor="range"))
    run.send("the second joins", beat(group, "n", 0, *names, server_assignor="range"))
    run.send("the first", beat(group, "m", 1))
    run.send("the first confirms its part", beat(group, "m", 1, owned={one: [0, 1], two: [0]}))
    run.send("the second", beat(group, "n", 2))
    run.send("the second confirms its part", beat(group, "n", 2, owned={one: [2], two: [1]}))


@scenario("consumer_group_heartbeat")
def static_members(run: ScenarioRun) -> None:
    group, topic = run.group("g"), known_topic(run, "a", 2)
    first = enter(run, "joins", "m", group, topic.name, instance_id="i").member_id
    run.send("confirms all", beat(group, first, 1, owned={topic: [0, 1]}, instance_id="i"))
    if run.version >= OWN_IDS:
        run.send(
            "another member with its instance id", beat(group, "n", 0, topic.name, instance_id="i")
        )
    run.send("a wrong instance id", beat(group, first, 1, instance_id="j"))
    run.send("leaves temporarily", beat(group, first, -2, instance_id="i"))
    run.send("a heartbeat while away", beat(group, first, 1, instance_id="i"))
    second = enter(run, "rejoins with another member id", "n", group, topic.name, instance_id="i")
    again = beat(group, second.member_id, second.member_epoch, instance_id="i")
    run.send("the new member id", again)
    run.send("the old member id", beat(group, first, 1, instance_id="i"))
    run.send("the old member id leaves", beat(group, first, -1, instance_id="i"))
    run.send("leaves permanently", beat(group, second.member_id, -1, instance_id="i"))
    enter(run, "rejoins", "o", group, topic.name, instance_id="i")


@scenario("consumer_group_heartbeat", first=OWN_IDS)
def subscriptions_by_pattern(run: ScenarioRun) -> None:
    group, topic = run.group("g"), known_topic(run, "pat-a", 2)
    known_topic(run, "other")
    pattern = topic.name[:-1] + ".*"
    more: dict[str, Any] = {"owned": {}, "rebalance_timeout_ms": 60_000}
    first = run.call(
        beat(group, "m", 0, subscribed_topic_regex=pattern, **more),
        ConsumerGroupHeartbeatResponse,
        1,
    )
    epoch = first.member_epoch
    if not first.assignment or not first.assignment.topic_partitions:
        epoch = _until_epoch(run, group, "m", epoch)
    run.send("confirms all", beat(group, "m", epoch, owned={topic: [0, 1]}))
    for step, bad in (
        ("looks ahead", "(?=x)"),
        ("looks back", "a(?<=x)"),
        ("refers back", r"(a)\1"),
        ("not closed", "(a"),
        ("repeats nothing", "*"),
        ("too often", "a{1001}"),
        ("possessive", "a++"),
        ("a class", "[z-a]"),
        ("named as in Python", "(?P<n>a)"),
        ("named as in Java", "(?<n>a)"),
        ("an unknown escape", r"\q"),
        ("a unicode class", r"\p{Greek}"),
        ("an unknown unicode class", r"\p{Klingon}"),
        ("a boundary", r"\bx\b"),
        ("a quotation", r"\Qx.\E"),
    ):
        joining = beat(run.group(step), "n", 0, subscribed_topic_regex=bad, **more)
        run.send(f"pattern: {step}", joining)
    for step, costly in (("a large program", "(?:.?){900}z"), ("many characters", "a" * 5000)):
        joining = beat(run.group(step), "n", 0, subscribed_topic_regex=costly, **more)
        run.send(f"pattern: {step}", joining)
    empty = beat(run.group("empty"), "n", 0, subscribed_topic_regex="", **more)
    run.send("an empty pattern", empty)
    both = beat(run.group("both"), "n", 0, topic.name, subscribed_topic_regex="")
    run.send("a name and an empty pattern", both)
    run.send("a bad one, later", beat(group, "m", epoch, subscribed_topic_regex="(?=x)"))


@scenario("consumer_group_heartbeat")
def conversion_of_classic_groups(run: ScenarioRun) -> None:
    """Empty groups and live groups of consumers are converted; others are refused."""
    topic = known_topic(run, "a", 2)
    group = run.group("offsets")
    committed(run, group, topic, 5)
    enter(run, "a group with offsets only", "m", group, topic.name)
    group = run.group("connect")
    stable(run, group, protocol_type="connect")
    enter(run, "another protocol type", "m", group, topic.name)
    group = run.group("unreadable")
    stable(run, group)
    enter(run, "unreadable subscriptions", "m", group, topic.name)
    group = run.group("live")
    stable(run, group, {"range": subscription(topic.name)})
    run.send("an unknown member of a classic group", beat(group, "nobody", 1))
    enter(run, "an unreadable assignment", "m", group, topic.name)


@scenario("consumer_group_heartbeat", first=OWN_IDS)
def an_upgrade_then_downgrade(run: ScenarioRun) -> None:
    """Converted by its first consumer member, and back when that member leaves."""
    group, topic = run.group("g"), known_topic(run, "a", 2)
    protocols = {"range": subscription(topic.name)}
    old = stable(run, group, protocols, assignment=assignment({topic.name: [0, 1]})).member_id
    describe = DescribeGroupsRequest(groups=[group])
    also = ConsumerGroupDescribeRequest(group_ids=[group])
    run.send("a consumer member joins", beat(group, "m", 0, topic.name))
    run.send("DescribeGroups", describe, 6)
    run.send("ConsumerGroupDescribe", also)
    run.send("the classic member has to rejoin", heartbeat(group, 1, old), HEARTBEAT)
    run.send("the consumer member waits", beat(group, "m", 2))
    run.send("the classic member commits", commit(group, topic, 5, member=(old, 1)), 7)
    response = run.send("the classic member rejoins", join(group, old, protocols), JOIN)
    generation = response.generation_id
    run.send("SyncGroup with another generation", sync(group, generation + 1, old), SYNC)
    run.send("the classic member gets its part", sync(group, generation, old), SYNC)
    run.send("the consumer member gets its part", beat(group, "m", 2))
    run.send("a classic heartbeat", heartbeat(group, generation, old), HEARTBEAT)
    protocols = {"range": subscription(topic.name, owned={topic.name: [0]}, version=1)}
    response = run.send(
        "the classic member rejoins with what it owns", join(group, old, protocols), JOIN
    )
    generation = response.generation_id
    run.send("the classic member gets the same part", sync(group, generation, old), SYNC)
    run.send("the consumer member's part is unchanged", beat(group, "m", 2))
    run.send("the consumer member confirms", beat(group, "m", 2, owned={topic: [1]}))
    run.send("ConsumerGroupDescribe with both", also)
    run.send(
        "a classic heartbeat in the stable group", heartbeat(group, generation, old), HEARTBEAT
    )
    run.send(
        "the classic member commits again", commit(group, topic, 6, member=(old, generation)), 7
    )
    run.send("the consumer member leaves", beat(group, "m", -1))
    run.send("DescribeGroups after the downgrade", describe, 6)
    run.send("ConsumerGroupDescribe after the downgrade", also)
    run.send("the classic member has to rejoin again", heartbeat(group, generation, old), HEARTBEAT)
    run.send("the classic member joins", join(group, old, protocols), JOIN)


@scenario("consumer_group_heartbeat", first=OWN_IDS)
def classic_joining_consumers(run: ScenarioRun) -> None:
    group, topic = run.group("g"), known_topic(run, "a", 2)
    run.send("a consumer member joins", beat(group, "m", 0, topic.name))
    run.send("confirms all", beat(group, "m", 1, owned={topic: [0, 1]}))
    protocols = {"range": subscription(topic.name)}
    run.send(
        "a classic member of another protocol type", join(group, protocol_type="connect"), JOIN
    )
    run.send(
        "a classic member with an unreadable subscription",
        join(group, protocols={"range": b"one"}),
        JOIN,
    )
    pending = run.send("a classic member requests an id", join(group, protocols=protocols), JOIN)
    old = pending.member_id
    response = run.send("the classic member joins", join(group, old, protocols), JOIN)
    generation = response.generation_id
    run.send("the classic member gets nothing yet", sync(group, generation, old), SYNC)
    run.send("the consumer member has to revoke some", beat(group, "m", 1))
    run.send("the consumer member revokes", beat(group, "m", 1, owned={topic: [0]}))
    run.send("the classic member has to rejoin", heartbeat(group, generation, old), HEARTBEAT)
    response = run.send("the classic member rejoins", join(group, old, protocols), JOIN)
    generation = response.generation_id
    run.send("the classic member gets its part", sync(group, generation, old), SYNC)
    run.send("the old member id leaves", leave_all(group, old), STATIC)
    run.send("the consumer member gets all", beat(group, "m", 2))


@scenario("consumer_group_heartbeat")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "consumer_group_heartbeat", b"")
    run.send_raw("half a body", "consumer_group_heartbeat", b"\x02g")
