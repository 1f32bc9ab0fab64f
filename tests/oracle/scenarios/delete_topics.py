from __future__ import annotations

from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.oracle.requests import NOBODY, SHARES, UNKNOWN_ID
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

BY_ID = 6


def asked(tell: Teller, *names: str) -> DeleteTopicsRequest:
    if tell.version < BY_ID:
        return DeleteTopicsRequest(topic_names=list(names), timeout_ms=20_000)
    states = [DeleteTopicState(name=name) for name in names]
    return DeleteTopicsRequest(topics=states, timeout_ms=20_000)


def by_id(*ids: bytes) -> DeleteTopicsRequest:
    states = [DeleteTopicState(name=None, topic_id=one) for one in ids]
    return DeleteTopicsRequest(topics=states, timeout_ms=20_000)


@scenario("delete_topics")
def by_name(tell: Teller) -> None:
    one, two, three = tell.topic("a"), tell.topic("b", 3), tell.topic("c")
    tell.ask("one", asked(tell, one.name))
    tell.settle(one.name, 0)
    tell.ask("once more", asked(tell, one.name))
    tell.ask("two and an unknown one", asked(tell, two.name, NOBODY.name, three.name))
    tell.settle(three.name, 0)
    tell.ask("none", asked(tell))
    tell.ask("an illegal name", asked(tell, "a b"))
    tell.ask("an empty name", asked(tell, ""))
    tell.topic("a")


@scenario("delete_topics")
def an_internal_topic(tell: Teller) -> None:
    tell.ask("not created yet", asked(tell, SHARES))


@scenario("delete_topics")
def twice_in_one_request(tell: Teller) -> None:
    one, two = tell.topic("a"), tell.topic("b")
    tell.ask("one of two twice", asked(tell, one.name, two.name, one.name))
    tell.settle(two.name, 0)
    tell.ask("an unknown one twice", asked(tell, NOBODY.name, NOBODY.name))
    tell.ask("it is still there", asked(tell, one.name))


@scenario("delete_topics", first=BY_ID)
def topics_by_id(tell: Teller) -> None:
    one, two, three = tell.topic("a"), tell.topic("b"), tell.topic("c")
    tell.ask("one", by_id(one.topic_id))
    tell.settle(one.name, 0)
    tell.ask("once more", by_id(one.topic_id))
    tell.ask("unknown", by_id(UNKNOWN_ID))
    tell.ask("unknown, twice", by_id(UNKNOWN_ID, UNKNOWN_ID))
    tell.ask("twice", by_id(two.topic_id, two.topic_id))
    tell.ask("zero", by_id(bytes(16)))
    tell.ask("zero, twice", by_id(bytes(16), bytes(16)))
    both = DeleteTopicState(name=two.name, topic_id=two.topic_id)
    tell.ask("name and id", DeleteTopicsRequest(topics=[both], timeout_ms=20_000))
    states = [DeleteTopicState(name=two.name), DeleteTopicState(topic_id=two.topic_id)]
    tell.ask("name, and id", DeleteTopicsRequest(topics=states, timeout_ms=20_000))
    states = [DeleteTopicState(name=two.name), DeleteTopicState(topic_id=three.topic_id)]
    tell.ask("one by name, one by id", DeleteTopicsRequest(topics=states, timeout_ms=20_000))


@scenario("delete_topics")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "delete_topics", b"")
    flexible = tell.version >= 4
    tell.ask_raw("many topics", "delete_topics", b"\xff\xff\xff\x7f" if flexible else b"\x7f" * 4)
