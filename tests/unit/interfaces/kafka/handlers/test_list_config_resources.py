"""Single types are in tests/oracle; Kafka's own run there has topics of other scenarios."""

from __future__ import annotations

from interfaces.kafka.wire.messages.list_config_resources import ListConfigResourcesRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.config_requests import BROKER, GROUP, LOGGER, TOPIC, set_configs


def test_without_types_all_resources_are_listed(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("b")
    kafka.topic("a")
    set_configs(client, GROUP, "g", consumer_session_timeout_ms="50000")
    response = client.request(ListConfigResourcesRequest(resource_types=[]), 1)
    found = [(one.resource_type, one.resource_name) for one in response.config_resources]
    assert found == [(GROUP, "g"), (LOGGER, "1"), (BROKER, "1"), (TOPIC, "a"), (TOPIC, "b")]
