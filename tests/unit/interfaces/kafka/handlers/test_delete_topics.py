from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.topic_requests import codes


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    kafka.topic("u")
    return kafka


def delete(client: FakeClient, *names: str, version: int = 5) -> Any:
    if version >= 6:
        return delete_states(client, *(DeleteTopicState(name=name) for name in names))
    return client.request(DeleteTopicsRequest(topic_names=list(names)), version).responses


def delete_states(client: FakeClient, *states: DeleteTopicState) -> Any:
    return client.request(DeleteTopicsRequest(topics=list(states)), 6).responses


@pytest.mark.parametrize("version", [1, 5, 6])
def test_topics_are_deleted_by_name(kafka: FakeKafka, client: FakeClient, version: int) -> None:
    """A name that appears twice is refused."""
    topic_id = kafka.existing().topic_id
    results = delete(client, "t", "absent", "u", "u", version=version)
    assert sorted(codes(results)) == [("absent", 3), ("t", 0), ("u", 42)]
    assert kafka.broker.catalog.names() == ["u"]
    if version >= 6:
        assert [one.topic_id for one in results if one.name == "t"] == [topic_id]


def test_topics_are_deleted_by_id(kafka: FakeKafka, client: FakeClient) -> None:
    known, unknown = kafka.existing().topic_id, b"\7" * 16
    states = [DeleteTopicState(name=None, topic_id=one) for one in (known, unknown)]
    results = delete_states(client, *states)
    assert [(r.name, r.topic_id, r.error_code) for r in results] == [
        ("t", known, 0),
        (None, unknown, 100),
    ]
    assert kafka.broker.catalog.names() == ["u"]


def test_a_topic_has_either_a_name_or_an_id_and_only_once(
    kafka: FakeKafka, client: FakeClient
) -> None:
    topic_id = kafka.existing().topic_id
    by_name, by_id = DeleteTopicState(name="t"), DeleteTopicState(name=None, topic_id=topic_id)
    both, neither = DeleteTopicState(name="t", topic_id=topic_id), DeleteTopicState(name=None)
    for states in ((both, neither), (by_name, by_id), (by_id, by_id)):
        assert {one.error_code for one in delete_states(client, *states)} == {42}
    assert kafka.broker.catalog.names() == ["t", "u"]


def test_the_setting_delete_topic_enable_forbids_deletions() -> None:
    kafka = FakeKafka(delete_topic_enable="false")
    kafka.topic("t")
    assert codes(delete(kafka.client(), "t")) == [("t", 73)]


def test_a_failed_commit_is_code_56(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    assert codes(delete(client, "t", "absent")) == [("t", 56), ("absent", 3)]
    assert codes(delete(client, "t")) == [("t", 0)]
