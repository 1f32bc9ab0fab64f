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
    commit,
    committed,
    heartbeat,
    join,
    known_topic,
    leave_all,
    modern,
    stable,
    sync,
)
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

OWN_IDS = 1


def enter(tell: Teller, step: str, name: str, group_id: str, *topics: str, **more: Any) -> Any:
    """A new member has the name, or in the first version an id of the broker's."""
    member_id = name if tell.version >= OWN_IDS else ""
    return tell.ask(step, modern(group_id, member_id, 0, *topics, **more))


@scenario("consumer_group_heartbeat")
def a_single_member(tell: Teller) -> None:
    group, topic = tell.group("g"), known_topic(tell, "a", 3)
    member = enter(tell, "joins", "m", group, topic.name)
    mine, epoch = member.member_id, member.member_epoch
    tell.ask("says nothing new", modern(group, mine, epoch))
    tell.ask("has them", modern(group, mine, epoch, owned={topic: [0, 1, 2]}))
    tell.ask("again", modern(group, mine, epoch))
    tell.ask("has some", modern(group, mine, epoch, owned={topic: [1]}))
    everything = modern(group, mine, epoch, topic.name, owned={topic: [0, 1, 2]})
    tell.ask("says everything again", everything)
    tell.ask("leaves", modern(group, mine, -1))
    tell.ask("leaves again", modern(group, mine, -1))
    tell.ask("after it left", modern(group, mine, epoch))
    tell.ask("comes back", modern(group, mine, 0, topic.name))


@scenario("consumer_group_heartbeat")
def a_second_member(tell: Teller) -> None:
    group, topic = tell.group("g"), known_topic(tell, "a", 2)
    first = enter(tell, "the first joins", "m", group, topic.name)
    one = first.member_id
    tell.ask("the first has all", modern(group, one, 1, owned={topic: [0, 1]}))
    second = enter(tell, "the second joins", "n", group, topic.name)
    two = second.member_id
    tell.ask("the second waits", modern(group, two, second.member_epoch))
    given = tell.ask("the first is to give some away", modern(group, one, 1))
    kept = _partitions(given)
    tell.ask("the first has not yet", modern(group, one, 1, owned={topic: [0, 1]}))
    tell.ask("the second still waits", modern(group, two, second.member_epoch))
    tell.ask("the first has", modern(group, one, 1, owned={topic: kept}))
    tell.ask("the second gets them", modern(group, two, second.member_epoch))
    rest = [one for one in (0, 1) if one not in kept]
    tell.ask("the second has them", modern(group, two, 2, owned={topic: rest}))
    tell.ask("the first goes on", modern(group, one, 2))
    tell.ask("the second leaves", modern(group, two, -1))
    tell.ask("the first gets them back", modern(group, one, 2))


@scenario("consumer_group_heartbeat")
def an_answer_that_is_lost(tell: Teller) -> None:
    """It is not given again to who says nothing, only to who says everything."""
    group, topic = tell.group("g"), known_topic(tell, "a", 2)
    one = enter(tell, "the first joins", "m", group, topic.name).member_id
    tell.ask("the first has all", modern(group, one, 1, owned={topic: [0, 1]}))
    two = enter(tell, "the second joins", "n", group, topic.name).member_id
    lost = tell.ask("the first is to give some away, and does not hear it", modern(group, one, 1))
    tell.ask("the first says nothing", modern(group, one, 1))
    tell.ask("the first says what it has", modern(group, one, 1, owned={topic: [0, 1]}))
    tell.ask("the second waits", modern(group, two, 2))
    everything = modern(group, one, 1, topic.name, owned={topic: [0, 1]})
    tell.ask("the first says everything", everything)
    tell.ask("the first has given it away", modern(group, one, 1, owned={topic: _partitions(lost)}))
    tell.ask("the second gets it, and does not hear it", modern(group, two, 2))
    tell.ask("the second says nothing", modern(group, two, 2))
    tell.ask("the second says everything", modern(group, two, 2, topic.name, owned={}))


def _partitions(answer: Any) -> list[int]:
    return sorted(
        number for topic in answer.assignment.topic_partitions for number in topic.partitions
    )


@scenario("consumer_group_heartbeat")
def epochs(tell: Teller) -> None:
    group, one, two = tell.group("g"), known_topic(tell, "a"), known_topic(tell, "b")
    mine = enter(tell, "joins", "m", group, one.name).member_id
    tell.ask("ahead", modern(group, mine, 2))
    tell.ask("far ahead", modern(group, mine, 1 << 30))
    tell.ask("another topic", modern(group, mine, 1, one.name, two.name, owned={one: [0]}))
    tell.ask("the last epoch, all of it", modern(group, mine, 1, owned={one: [0], two: [0]}))
    tell.ask("the last epoch, some of it", modern(group, mine, 1, owned={one: [0]}))
    tell.ask("the last epoch", modern(group, mine, 1))
    tell.ask("joins again", modern(group, mine, 0, one.name, two.name))
    tell.ask("-2 without an instance", modern(group, mine, -2))
    tell.ask("-3", modern(group, mine, -3))


@scenario("consumer_group_heartbeat")
def refusals(tell: Teller) -> None:
    group, topic = tell.group("g"), known_topic(tell, "a")
    mine = enter(tell, "joins", "m", group, topic.name).member_id
    tell.ask("an empty group", modern("", "m", 0, topic.name))
    tell.ask("a blank group", modern(" ", "m", 0, topic.name))
    tell.ask("no id", modern(group, "", 0, topic.name))
    tell.ask("no id, and an epoch", modern(group, "", 1))
    tell.ask("nobody", modern(group, "nobody", 1))
    tell.ask("nobody leaves", modern(group, "nobody", -1))
    tell.ask("a group that is not there", modern(tell.group("none"), "nobody", 1))
    tell.ask("leaves a group that is not there", modern(tell.group("none"), "nobody", -1))
    tell.ask("no timeout", modern(group, "n", 0, topic.name, rebalance_timeout_ms=-1))
    tell.ask(
        "a timeout of 0", modern(tell.group("timeout"), "n", 0, topic.name, rebalance_timeout_ms=0)
    )
    tell.ask(
        "no partitions",
        ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id="n",
            member_epoch=0,
            rebalance_timeout_ms=5_000,
            subscribed_topic_names=[topic.name],
        ),
    )
    tell.ask("partitions when it joins", modern(group, "n", 0, topic.name, owned={topic: [0]}))
    tell.ask("nothing subscribed", modern(group, "n", 0, owned={}, rebalance_timeout_ms=5_000))
    tell.ask(
        "no topics",
        modern(
            tell.group("no topics"),
            "n",
            0,
            owned={},
            rebalance_timeout_ms=5_000,
            subscribed_topic_names=[],
        ),
    )
    tell.ask("an unknown assignor", modern(group, "n", 0, topic.name, server_assignor="sticky"))
    tell.ask("an empty assignor", modern(group, "n", 0, topic.name, server_assignor=""))
    tell.ask("an empty instance", modern(group, "n", 0, topic.name, instance_id=""))
    tell.ask("an empty rack", modern(group, "n", 0, topic.name, rack_id=""))
    tell.ask("an unknown assignor, later", modern(group, mine, 1, server_assignor="sticky"))


@scenario("consumer_group_heartbeat")
def topics_that_come_and_go(tell: Teller) -> None:
    group = tell.group("g")
    name = tell.name("late")
    mine = enter(tell, "joins for one that is not there", "m", group, name).member_id
    late = tell.topic("late", 2)
    answer = _until_epoch(tell, group, mine, 1)
    tell.ask("it has them", modern(group, mine, answer, owned={late: [0, 1]}))
    more = [CreatePartitionsTopic(name=name, count=3, assignments=None)]
    tell.call(CreatePartitionsRequest(topics=more, timeout_ms=10_000), CreatePartitionsResponse, 3)
    tell.settle(name, 3)
    answer = _until_epoch(tell, group, mine, answer)
    tell.ask("it has all three", modern(group, mine, answer, owned={late: [0, 1, 2]}))
    gone = DeleteTopicsRequest(topic_names=[name], timeout_ms=10_000)
    tell.call(gone, DeleteTopicsResponse, 5)
    tell.settle(name, 0)
    answer = _until_epoch(tell, group, mine, answer)
    tell.ask("it has none", modern(group, mine, answer, owned={}))


def _until_epoch(tell: Teller, group_id: str, member_id: str, above: int) -> int:
    """A broker hears of a topic in its own time; the epoch then is one higher.

    Or the member is told of what it is to give up first.
    """
    for _ in range(5_000):
        answer = tell.call(modern(group_id, member_id, above), ConsumerGroupHeartbeatResponse, 1)
        assert answer.error_code == 0, answer
        if answer.member_epoch > above or answer.assignment is not None:
            epoch: int = answer.member_epoch
            return epoch
    raise AssertionError(f"the epoch never rose above {above}")


@scenario("consumer_group_heartbeat")
def assignors(tell: Teller) -> None:
    for name in ("range", "uniform"):
        group, one, two = (
            tell.group(name),
            known_topic(tell, f"{name}-a", 3),
            known_topic(tell, f"{name}-b", 3),
        )
        entered = enter(
            tell, f"{name}: joins", "m", group, one.name, two.name, server_assignor=name
        )
        both = {one: [0, 1, 2], two: [0, 1, 2]}
        tell.ask(f"{name}: has all", modern(group, entered.member_id, 1, owned=both))
        other = "uniform" if name == "range" else "range"
        tell.ask(
            f"{name}: wants {other}", modern(group, entered.member_id, 1, server_assignor=other)
        )


@scenario("consumer_group_heartbeat", first=OWN_IDS)
def two_members_by_range(tell: Teller) -> None:
    group, one, two = tell.group("g"), known_topic(tell, "a", 3), known_topic(tell, "b", 2)
    names = (one.name, two.name)
    tell.ask("the first joins", modern(group, "m", 0, *names, server_assignor="range"))
    tell.ask("the second joins", modern(group, "n", 0, *names, server_assignor="range"))
    tell.ask("the first", modern(group, "m", 1))
    tell.ask("the first has its part", modern(group, "m", 1, owned={one: [0, 1], two: [0]}))
    tell.ask("the second", modern(group, "n", 2))
    tell.ask("the second has its part", modern(group, "n", 2, owned={one: [2], two: [1]}))


@scenario("consumer_group_heartbeat")
def static_members(tell: Teller) -> None:
    group, topic = tell.group("g"), known_topic(tell, "a", 2)
    first = enter(tell, "joins", "m", group, topic.name, instance_id="i").member_id
    tell.ask("has all", modern(group, first, 1, owned={topic: [0, 1]}, instance_id="i"))
    if tell.version >= OWN_IDS:
        tell.ask("another with its name", modern(group, "n", 0, topic.name, instance_id="i"))
    tell.ask("a wrong name", modern(group, first, 1, instance_id="j"))
    tell.ask("goes for a while", modern(group, first, -2, instance_id="i"))
    tell.ask("while it is away", modern(group, first, 1, instance_id="i"))
    second = enter(tell, "comes back as another", "n", group, topic.name, instance_id="i")
    again = modern(group, second.member_id, second.member_epoch, instance_id="i")
    tell.ask("the new one", again)
    tell.ask("the old one", modern(group, first, 1, instance_id="i"))
    tell.ask("the old one leaves", modern(group, first, -1, instance_id="i"))
    tell.ask("leaves for good", modern(group, second.member_id, -1, instance_id="i"))
    enter(tell, "comes back", "o", group, topic.name, instance_id="i")


@scenario("consumer_group_heartbeat", first=OWN_IDS)
def subscriptions_by_pattern(tell: Teller) -> None:
    group, topic = tell.group("g"), known_topic(tell, "pat-a", 2)
    known_topic(tell, "other")
    pattern = topic.name[:-1] + ".*"
    wanted: dict[str, Any] = {"owned": {}, "rebalance_timeout_ms": 60_000}
    first = tell.call(
        modern(group, "m", 0, subscribed_topic_regex=pattern, **wanted),
        ConsumerGroupHeartbeatResponse,
        1,
    )
    epoch = first.member_epoch
    if not first.assignment or not first.assignment.topic_partitions:
        epoch = _until_epoch(tell, group, "m", epoch)
    tell.ask("has them", modern(group, "m", epoch, owned={topic: [0, 1]}))
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
        asked = modern(tell.group(step), "n", 0, subscribed_topic_regex=bad, **wanted)
        tell.ask(f"pattern: {step}", asked)
    for step, costly in (("a large program", "(?:.?){900}z"), ("many characters", "a" * 5000)):
        asked = modern(tell.group(step), "n", 0, subscribed_topic_regex=costly, **wanted)
        tell.ask(f"pattern: {step}", asked)
    empty = modern(tell.group("empty"), "n", 0, subscribed_topic_regex="", **wanted)
    tell.ask("an empty pattern", empty)
    both = modern(tell.group("both"), "n", 0, topic.name, subscribed_topic_regex="")
    tell.ask("a name and an empty pattern", both)
    tell.ask("a bad one, later", modern(group, "m", epoch, subscribed_topic_regex="(?=x)"))


@scenario("consumer_group_heartbeat")
def groups_of_the_other_kind(tell: Teller) -> None:
    """An empty one is taken over; a live one of consumers too; another is refused."""
    topic = known_topic(tell, "a", 2)
    group = tell.group("offsets")
    committed(tell, group, topic, 5)
    enter(tell, "a group that only has offsets", "m", group, topic.name)
    group = tell.group("connect")
    stable(tell, group, protocol_type="connect")
    enter(tell, "members that are no consumers", "m", group, topic.name)
    group = tell.group("unreadable")
    stable(tell, group)
    enter(tell, "members that nobody can read", "m", group, topic.name)
    group = tell.group("live")
    stable(tell, group, {"range": subscription(topic.name)})
    tell.ask("somebody without joining", modern(group, "nobody", 1))
    enter(tell, "an assignment that nobody can read", "m", group, topic.name)


@scenario("consumer_group_heartbeat", first=OWN_IDS)
def a_live_group_of_consumers(tell: Teller) -> None:
    """It is taken over by a new member, and goes back to what it was when that one leaves."""
    group, topic = tell.group("g"), known_topic(tell, "a", 2)
    protocols = {"range": subscription(topic.name)}
    old = stable(tell, group, protocols, assignment=assignment({topic.name: [0, 1]})).member_id
    describe = DescribeGroupsRequest(groups=[group])
    also = ConsumerGroupDescribeRequest(group_ids=[group])
    tell.ask("a new one joins", modern(group, "m", 0, topic.name))
    tell.ask("what the old way says", describe, 6)
    tell.ask("what the new way says", also)
    tell.ask("the old one is told", heartbeat(group, 1, old), HEARTBEAT)
    tell.ask("the new one waits", modern(group, "m", 2))
    tell.ask("the old one commits", commit(group, topic, 5, member=(old, 1)), 7)
    answer = tell.ask("the old one joins again", join(group, old, protocols), JOIN)
    generation = answer.generation_id
    tell.ask("with another generation", sync(group, generation + 1, old), SYNC)
    tell.ask("it gets its part", sync(group, generation, old), SYNC)
    tell.ask("the new one gets its part", modern(group, "m", 2))
    tell.ask("a heartbeat of the old one", heartbeat(group, generation, old), HEARTBEAT)
    protocols = {"range": subscription(topic.name, owned={topic.name: [0]}, version=1)}
    answer = tell.ask("it says what it has left", join(group, old, protocols), JOIN)
    generation = answer.generation_id
    tell.ask("it is told the same", sync(group, generation, old), SYNC)
    tell.ask("the new one has nothing new", modern(group, "m", 2))
    tell.ask("it has it", modern(group, "m", 2, owned={topic: [1]}))
    tell.ask("both are there", also)
    tell.ask("all is quiet", heartbeat(group, generation, old), HEARTBEAT)
    tell.ask("the old one commits again", commit(group, topic, 6, member=(old, generation)), 7)
    tell.ask("the new one leaves", modern(group, "m", -1))
    tell.ask("what the old way says then", describe, 6)
    tell.ask("what the new way says then", also)
    tell.ask("the old one is told again", heartbeat(group, generation, old), HEARTBEAT)
    tell.ask("it joins", join(group, old, protocols), JOIN)


@scenario("consumer_group_heartbeat", first=OWN_IDS)
def an_old_one_joins_new_ones(tell: Teller) -> None:
    group, topic = tell.group("g"), known_topic(tell, "a", 2)
    tell.ask("a new one joins", modern(group, "m", 0, topic.name))
    tell.ask("has all", modern(group, "m", 1, owned={topic: [0, 1]}))
    protocols = {"range": subscription(topic.name)}
    tell.ask("no consumer", join(group, protocol_type="connect"), JOIN)
    tell.ask("one that nobody can read", join(group, protocols={"range": b"one"}), JOIN)
    asked = tell.ask("an old one asks for an id", join(group, protocols=protocols), JOIN)
    old = asked.member_id
    answer = tell.ask("it joins", join(group, old, protocols), JOIN)
    generation = answer.generation_id
    tell.ask("it gets nothing yet", sync(group, generation, old), SYNC)
    tell.ask("the new one is to give up", modern(group, "m", 1))
    tell.ask("it has", modern(group, "m", 1, owned={topic: [0]}))
    tell.ask("the old one is told", heartbeat(group, generation, old), HEARTBEAT)
    answer = tell.ask("it joins again", join(group, old, protocols), JOIN)
    generation = answer.generation_id
    tell.ask("it gets its part", sync(group, generation, old), SYNC)
    tell.ask("the old one leaves", leave_all(group, old), STATIC)
    tell.ask("the new one gets all", modern(group, "m", 2))


@scenario("consumer_group_heartbeat")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "consumer_group_heartbeat", b"")
    tell.ask_raw("half a body", "consumer_group_heartbeat", b"\x02g")
