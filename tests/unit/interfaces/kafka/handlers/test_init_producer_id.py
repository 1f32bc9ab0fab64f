from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from tests.fakes.client import FakeClient, FakeKafka


def init(client: FakeClient, version: int = 4, **facts: Any) -> tuple[int, int, int]:
    facts.setdefault("transactional_id", None)
    response = client.request(InitProducerIdRequest(**facts), version)
    return response.error_code, response.producer_id, response.producer_epoch


@pytest.mark.parametrize("version", [0, 2, 3, 5])
def test_each_producer_gets_its_own_id(client: FakeClient, version: int) -> None:
    assert [init(client, version) for _ in range(3)] == [(0, 0, 0), (0, 1, 0), (0, 2, 0)]


@pytest.mark.parametrize("version", [0, 5])
def test_a_transactional_id_is_refused_with_a_line_in_the_log(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    assert init(client, version, transactional_id="a") == (53, -1, -1)
    [event] = kafka.events.of("transactional_id_refused")
    assert event["transactional_id"] == "a"
    assert "Transactions" in str(event["detail"])
