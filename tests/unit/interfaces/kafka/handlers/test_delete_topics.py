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
