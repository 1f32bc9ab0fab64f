from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.list_config_resources import ListConfigResourcesRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.config_requests import BROKER, GROUP, LOGGER, METRICS, TOPIC, set_configs

TOPICS = [(TOPIC, "a"), (TOPIC, "b")]


@pytest.mark.parametrize(
    ("version", "types", "code", "listed"),
    [
        (1, [], 0, [(GROUP, "g"), (LOGGER, "1"), (BROKER, "1"), *TOPICS]),
        (1, [TOPIC], 0, TOPICS),
        (1, [BROKER, GROUP, GROUP], 0, [(GROUP, "g"), (BROKER, "1")]),
        (1, [METRICS], 0, []),
        *((1, [TOPIC, unknown], 35, []) for unknown in (0, 1, 99, -1)),
        (0, [], 0, []),  # version 0 lists client metrics, and there are none
    ],
)
def test_resources_are_listed_by_type(
    kafka: FakeKafka,
    client: FakeClient,
    version: int,
    types: list[int],
    code: int,
    listed: list[tuple[int, str]],
) -> None:
    kafka.topic("b")
    kafka.topic("a")
    set_configs(client, GROUP, "g", consumer_session_timeout_ms="50000")
    response = client.request(ListConfigResourcesRequest(resource_types=types), version)
    found = [(one.resource_type, one.resource_name) for one in response.config_resources]
    assert (response.error_code, found) == (code, listed)
