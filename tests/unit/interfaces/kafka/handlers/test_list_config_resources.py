from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.list_config_resources import ListConfigResourcesRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.config_requests import BROKER, GROUP, LOGGER, METRICS, TOPIC, set_configs


def listed(client: FakeClient, *types: int, version: int = 1) -> tuple[int, list[tuple[int, str]]]:
    answer = client.ask(ListConfigResourcesRequest(resource_types=list(types)), version)
    return answer.error_code, [
        (one.resource_type, one.resource_name) for one in answer.config_resources
    ]


@pytest.fixture
def client(kafka: FakeKafka) -> FakeClient:
    kafka.topic("b")
    kafka.topic("a")
    client = kafka.client()
    set_configs(client, GROUP, "g", consumer_session_timeout_ms="50000")
    return client


def test_all_resources_are_listed_when_none_is_named(client: FakeClient) -> None:
    assert listed(client) == (
        0,
        [(GROUP, "g"), (LOGGER, "1"), (BROKER, "1"), (TOPIC, "a"), (TOPIC, "b")],
    )


def test_only_what_is_named_is_listed(client: FakeClient) -> None:
    assert listed(client, TOPIC) == (0, [(TOPIC, "a"), (TOPIC, "b")])
    assert listed(client, BROKER, GROUP, GROUP) == (0, [(GROUP, "g"), (BROKER, "1")])
    assert listed(client, METRICS) == (0, [])


@pytest.mark.parametrize("unknown", [0, 1, 99, -1])
def test_a_type_that_there_is_not_refuses_the_request(client: FakeClient, unknown: int) -> None:
    assert listed(client, TOPIC, unknown) == (35, [])


def test_version_0_lists_metrics_of_clients_of_which_there_are_none(client: FakeClient) -> None:
    assert listed(client, version=0) == (0, [])
