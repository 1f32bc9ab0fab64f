"""Messages are compared with Kafka's in tests/oracle, effects are tested with the services."""

from __future__ import annotations

import pytest

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.config_requests import (
    GROUP,
    SET,
    TOPIC,
    changed,
)

SESSION = "consumer.session.timeout.ms"


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    return kafka


def test_a_resource_that_appears_twice_is_refused(kafka: FakeKafka, client: FakeClient) -> None:
    resources = [(TOPIC, "t", [("retention.ms", SET, str(at))]) for at in (1, 2)]
    resources.append((GROUP, "t", [(SESSION, SET, "46000")]))
    responses = client.request(changed(*resources), 1).responses
    assert [one.error_code for one in responses] == [42, 42, 0]
    assert kafka.existing().configs == {}


def test_validate_only_changes_nothing(kafka: FakeKafka, client: FakeClient) -> None:
    request = changed((TOPIC, "t", [("retention.ms", SET, "1")]), only=True)
    assert [one.error_code for one in client.request(request, 1).responses] == [0]
    assert kafka.existing().configs == {}
