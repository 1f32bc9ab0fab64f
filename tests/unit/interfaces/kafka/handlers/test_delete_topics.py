from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.create_topics import CreateTopicsRequest
from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.topic_requests import codes, create, new


def delete(client: FakeClient, *names: str, version: int = 5) -> Any:
    if version >= 6:
        return delete_states(client, *(DeleteTopicState(name=name) for name in names))
    return client.ask(DeleteTopicsRequest(topic_names=list(names)), version).responses


def delete_states(client: FakeClient, *states: DeleteTopicState) -> Any:
    return client.ask(DeleteTopicsRequest(topics=list(states)), 6).responses


@pytest.mark.parametrize("version", range(1, 7))
def test_topics_are_deleted_by_name(kafka: FakeKafka, client: FakeClient, version: int) -> None:
    create(client, new("t"), new("u"))
    gone = kafka.existing().topic_id
    results = delete(client, "t", "nope", version=version)
    assert sorted(codes(results)) == [("nope", 3), ("t", 0)]
    assert kafka.broker.catalog.names() == ["u"]
    if version >= 6:
        (deleted,) = (one for one in results if one.name == "t")
        assert deleted.topic_id == gone


def test_topics_are_deleted_by_id(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("t"), new("u"))
    known, unknown = kafka.existing().topic_id, b"\7" * 16
    states = [DeleteTopicState(name=None, topic_id=one) for one in (known, unknown)]
    results = delete_states(client, *states)
    assert [(r.name, r.topic_id, r.error_code) for r in results] == [
        ("t", known, 0),
        (None, unknown, 100),
    ]
    assert kafka.broker.catalog.names() == ["u"]


def test_a_topic_is_named_either_by_name_or_by_id(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("t"))
    both = DeleteTopicState(name="t", topic_id=kafka.existing().topic_id)
    results = delete_states(client, both, DeleteTopicState(name=None))
    assert [one.error_code for one in results] == [42, 42]
    assert kafka.broker.catalog.names() == ["t"]


@pytest.mark.parametrize("version", [5, 6])
def test_a_name_that_comes_twice_is_refused_once_and_not_deleted(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    create(client, new("t"), new("u"))
    results = delete(client, "t", "u", "t", version=version)
    assert sorted(codes(results)) == [("t", 42), ("u", 0)]
    assert kafka.broker.catalog.names() == ["t"]


def test_a_topic_named_by_name_and_by_id_is_not_deleted(
    kafka: FakeKafka, client: FakeClient
) -> None:
    create(client, new("t"))
    by_name = DeleteTopicState(name="t")
    by_id = DeleteTopicState(name=None, topic_id=kafka.existing().topic_id)
    for states in ((by_name, by_id), (by_id, by_id)):
        results = delete_states(client, *states)
        assert {one.error_code for one in results} == {42}
    assert kafka.broker.catalog.names() == ["t"]


def test_where_topics_may_not_be_deleted_they_are_not() -> None:
    kafka = FakeKafka(delete_topic_enable="false")
    client = kafka.client()
    create(client, new("t"))
    assert codes(delete(client, "t")) == [("t", 73)]


def test_a_failed_deletion_is_code_56(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("t"))
    kafka.commit.fail_next()
    assert codes(delete(client, "t", "nope")) == [("t", 56), ("nope", 3)]
    assert codes(delete(client, "t")) == [("t", 0)]


def test_deleting_and_creating_again_is_one_after_the_other(
    kafka: FakeKafka, client: FakeClient
) -> None:
    create(client, new("t"))
    old = kafka.existing().topic_id
    client.send(DeleteTopicsRequest(topic_names=["t"]), 5)
    client.send(CreateTopicsRequest(topics=[new("t", 2)]), 7)
    kafka.run()
    deleted, created = client.answers()
    assert (deleted.responses[0].error_code, created.topics[0].error_code) == (0, 0)
    assert kafka.existing().topic_id != old
