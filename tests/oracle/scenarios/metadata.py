from __future__ import annotations

from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.oracle.requests import OFFSETS, SHARES, TRANSACTIONS, UNKNOWN_ID
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun, Topic

BY_ID = 12


def request(
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
def topics_by_name(run: ScenarioRun) -> None:
    one, two = run.topic("a"), run.topic("b", 3)
    run.send("one", request(one.name))
    run.send("three partitions", request(two.name))
    run.send("both", request(two.name, one.name))
    run.send("twice", request(one.name, one.name))
    run.send("none", request())


@scenario("metadata", first=8)
def authorized_operations(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("of a topic", request(topic.name, all_of_it=True))
    if run.version <= 10:
        of_cluster = MetadataRequest(topics=[], include_cluster_authorized_operations=True)
        run.send("of the cluster", of_cluster)


@scenario("metadata", first=4)
def unknown_and_illegal_names(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("unknown", request(run.name("missing")))
    run.send("unknown and known", request(run.name("missing"), topic.name))
    for step, name in (
        ("empty", ""),
        ("dot", "."),
        ("two dots", ".."),
        ("space", "a b"),
        ("slash", "a/b"),
        ("249 characters", "x" * 249),
        ("250 characters", "x" * 250),
    ):
        run.send(f"illegal: {step}", request(name))
        run.send(f"illegal, may be created: {step}", request(name, create=len(name) != 249))


@scenario("metadata", first=10)
def topics_by_id(run: ScenarioRun) -> None:
    topic = run.topic("a")
    by_id = (topic.topic_id,)
    if run.version >= BY_ID:
        run.send("known", request(ids=by_id))
        run.send("twice", request(ids=by_id * 2))
        run.send("unknown", request(ids=(UNKNOWN_ID,)))
        run.send("known and unknown", request(ids=(*by_id, UNKNOWN_ID)))
        run.send("a name and an id", request(topic.name, ids=(UNKNOWN_ID,)))
        run.send("an unknown name and an id", request(run.name("missing"), ids=by_id))
    else:
        run.send("an id before version 12", request(ids=by_id))
    run.send("zero and no name", request(ids=(bytes(16),)))
    both = MetadataRequestTopic(name=topic.name, topic_id=topic.topic_id)
    run.send("name and id of one topic", MetadataRequest(topics=[both]))
    wrong = MetadataRequestTopic(name=topic.name, topic_id=UNKNOWN_ID)
    run.send("name and id of two topics", MetadataRequest(topics=[wrong]))


@scenario("metadata")
def auto_created_topics(run: ScenarioRun) -> None:
    name = run.name("new")
    run.send("the first time", request(name, create=True))
    run.wait_for_partitions(name, 1)
    run.send("again, after its creation", request(name, create=True))
    other = Topic(run.name("b-new"), UNKNOWN_ID)
    run.send("one known and one new", request(name, other.name, create=True))
    run.wait_for_partitions(other.name, 1)


@scenario("metadata", first=4)
def a_colliding_name(run: ScenarioRun) -> None:
    topic = run.topic("a.b")
    other = topic.name.replace(".", "_")
    run.placeholders.add_name(other, "a_b")
    run.send("may be created", request(other, create=True))
    run.send("still unknown", request(other))


@scenario("metadata", first=4)
def internal_topics(run: ScenarioRun) -> None:
    run.send("not created yet", request(SHARES))
    run.send("__consumer_offsets", request(OFFSETS, create=True))
    run.send("__transaction_state", request(TRANSACTIONS))


@scenario("metadata")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "metadata", b"")
    if run.version == 0:
        run.send_raw("null topics", "metadata", b"\xff\xff\xff\xff")
    if run.version < 9:
        run.send_raw("a count without topics", "metadata", b"\x7f\xff\xff\xff")
        run.send_raw("a name of null", "metadata", b"\0\0\0\x01\xff\xff\0\0\0")
    else:
        run.send_raw("a count without topics", "metadata", b"\xff\xff\xff\xff\x07")
