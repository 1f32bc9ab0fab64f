from __future__ import annotations

from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.oracle.requests import OFFSETS, SHARES, UNKNOWN_ID
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller, Topic

BY_ID = 12


def asked(
    *names: str | None, ids: tuple[bytes, ...] = (), create: bool = False, all_of_it: bool = False
) -> MetadataRequest:
    return MetadataRequest(
        topics=[
            *(MetadataRequestTopic(name=name) for name in names),
            *(MetadataRequestTopic(name=None, topic_id=one) for one in ids),
        ],
        allow_auto_topic_creation=create,
        include_topic_authorized_operations=all_of_it,
    )


@scenario("metadata", first=4)
def topics_by_name(tell: Teller) -> None:
    one, two = tell.topic("a"), tell.topic("b", 3)
    tell.ask("one", asked(one.name))
    tell.ask("three partitions", asked(two.name))
    tell.ask("both", asked(two.name, one.name))
    tell.ask("twice", asked(one.name, one.name))
    tell.ask("none", asked())


@scenario("metadata", first=8)
def authorized_operations(tell: Teller) -> None:
    topic = tell.topic("a")
    tell.ask("of a topic", asked(topic.name, all_of_it=True))
    if tell.version <= 10:
        request = MetadataRequest(topics=[], include_cluster_authorized_operations=True)
        tell.ask("of the cluster", request)


@scenario("metadata", first=4)
def names_that_no_topic_has(tell: Teller) -> None:
    topic = tell.topic("a")
    tell.ask("unknown", asked(tell.name("missing")))
    tell.ask("unknown and known", asked(tell.name("missing"), topic.name))
    for step, name in (
        ("empty", ""),
        ("dot", "."),
        ("two dots", ".."),
        ("space", "a b"),
        ("slash", "a/b"),
        ("249 characters", "x" * 249),
        ("250 characters", "x" * 250),
    ):
        tell.ask(f"illegal: {step}", asked(name))
        tell.ask(f"illegal, may be created: {step}", asked(name, create=len(name) != 249))


@scenario("metadata", first=10)
def topics_by_id(tell: Teller) -> None:
    topic = tell.topic("a")
    by_id = (topic.topic_id,)
    if tell.version >= BY_ID:
        tell.ask("known", asked(ids=by_id))
        tell.ask("twice", asked(ids=by_id * 2))
        tell.ask("unknown", asked(ids=(UNKNOWN_ID,)))
        tell.ask("known and unknown", asked(ids=(*by_id, UNKNOWN_ID)))
        tell.ask("a name and an id", asked(topic.name, ids=(UNKNOWN_ID,)))
        tell.ask("an unknown name and an id", asked(tell.name("missing"), ids=by_id))
    else:
        tell.ask("before its time", asked(ids=by_id))
    tell.ask("zero and no name", asked(ids=(bytes(16),)))
    both = MetadataRequestTopic(name=topic.name, topic_id=topic.topic_id)
    tell.ask("name and id of one topic", MetadataRequest(topics=[both]))
    wrong = MetadataRequestTopic(name=topic.name, topic_id=UNKNOWN_ID)
    tell.ask("name and id of two", MetadataRequest(topics=[wrong]))


@scenario("metadata")
def topics_that_are_created_on_the_way(tell: Teller) -> None:
    name = tell.name("new")
    tell.ask("the first time", asked(name, create=True))
    tell.settle(name, 1)
    tell.ask("when it is there", asked(name, create=True))
    other = Topic(tell.name("b-new"), UNKNOWN_ID)
    tell.ask("one that is there and one that is not", asked(name, other.name, create=True))
    tell.settle(other.name, 1)


@scenario("metadata", first=4)
def a_name_that_collides(tell: Teller) -> None:
    topic = tell.topic("a.b")
    other = topic.name.replace(".", "_")
    tell.placeholders.add_topic(other, "a_b")
    tell.ask("may be created", asked(other, create=True))
    tell.ask("still not there", asked(other))


@scenario("metadata", first=4)
def internal_topics(tell: Teller) -> None:
    tell.ask("not created yet", asked(SHARES))
    tell.ask("of committed offsets", asked(OFFSETS, create=True))


@scenario("metadata")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "metadata", b"")
    if tell.version == 0:
        tell.ask_raw("null topics", "metadata", b"\xff\xff\xff\xff")
    if tell.version < 9:
        tell.ask_raw("a count without topics", "metadata", b"\x7f\xff\xff\xff")
        tell.ask_raw("a name of null", "metadata", b"\0\0\0\x01\xff\xff\0\0\0")
    else:
        tell.ask_raw("a count without topics", "metadata", b"\xff\xff\xff\xff\x07")
