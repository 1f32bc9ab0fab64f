from __future__ import annotations

from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.oracle.requests import SHARES, UNKNOWN_ID, UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

BY_ID = 6


def request(run: ScenarioRun, *names: str) -> DeleteTopicsRequest:
    if run.version < BY_ID:
        return DeleteTopicsRequest(topic_names=list(names), timeout_ms=20_000)
    states = [DeleteTopicState(name=name) for name in names]
    return DeleteTopicsRequest(topics=states, timeout_ms=20_000)


def by_id(*ids: bytes) -> DeleteTopicsRequest:
    states = [DeleteTopicState(name=None, topic_id=one) for one in ids]
    return DeleteTopicsRequest(topics=states, timeout_ms=20_000)


@scenario("delete_topics")
def by_name(run: ScenarioRun) -> None:
    one, two, three = run.topic("a"), run.topic("b", 3), run.topic("c")
    run.send("one", request(run, one.name))
    run.wait_for_partitions(one.name, 0)
    run.send("again", request(run, one.name))
    run.send("two and an unknown one", request(run, two.name, UNKNOWN_TOPIC.name, three.name))
    run.wait_for_partitions(three.name, 0)
    run.send("none", request(run))
    run.send("an illegal name", request(run, "a b"))
    run.send("an empty name", request(run, ""))
    run.topic("a")


@scenario("delete_topics")
def an_internal_topic(run: ScenarioRun) -> None:
    run.send("not created yet", request(run, SHARES))


@scenario("delete_topics")
def twice_in_one_request(run: ScenarioRun) -> None:
    one, two = run.topic("a"), run.topic("b")
    run.send("one of two twice", request(run, one.name, two.name, one.name))
    run.wait_for_partitions(two.name, 0)
    run.send("an unknown one twice", request(run, UNKNOWN_TOPIC.name, UNKNOWN_TOPIC.name))
    run.send("the topic named twice is not deleted", request(run, one.name))


@scenario("delete_topics", first=BY_ID)
def topics_by_id(run: ScenarioRun) -> None:
    one, two, three = run.topic("a"), run.topic("b"), run.topic("c")
    run.send("one", by_id(one.topic_id))
    run.wait_for_partitions(one.name, 0)
    run.send("again", by_id(one.topic_id))
    run.send("unknown", by_id(UNKNOWN_ID))
    run.send("unknown, twice", by_id(UNKNOWN_ID, UNKNOWN_ID))
    run.send("twice", by_id(two.topic_id, two.topic_id))
    run.send("zero", by_id(bytes(16)))
    run.send("zero, twice", by_id(bytes(16), bytes(16)))
    both = DeleteTopicState(name=two.name, topic_id=two.topic_id)
    run.send("name and id", DeleteTopicsRequest(topics=[both], timeout_ms=20_000))
    states = [DeleteTopicState(name=two.name), DeleteTopicState(topic_id=two.topic_id)]
    run.send("name, and id", DeleteTopicsRequest(topics=states, timeout_ms=20_000))
    states = [DeleteTopicState(name=two.name), DeleteTopicState(topic_id=three.topic_id)]
    run.send("one by name, one by id", DeleteTopicsRequest(topics=states, timeout_ms=20_000))


@scenario("delete_topics")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "delete_topics", b"")
    flexible = run.version >= 4
    run.send_raw("many topics", "delete_topics", b"\xff\xff\xff\x7f" if flexible else b"\x7f" * 4)
