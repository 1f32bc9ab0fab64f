from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from tests.fakes.client import FakeClient


def init(client: FakeClient, version: int = 4, **facts: Any) -> tuple[int, int, int]:
    facts.setdefault("transactional_id", None)
    response = client.request(InitProducerIdRequest(**facts), version)
    return response.error_code, response.producer_id, response.producer_epoch


@pytest.mark.parametrize("version", [0, 2, 3, 5])
def test_each_producer_gets_its_own_id(client: FakeClient, version: int) -> None:
    assert [init(client, version) for _ in range(3)] == [(0, 0, 0), (0, 1, 0), (0, 2, 0)]


def test_a_producer_that_is_fenced_gets_the_code_that_its_version_knows(
    client: FakeClient,
) -> None:
    for epoch in range(3):
        assert init(client, 5, transactional_id="a", transaction_timeout_ms=1) == (0, 0, epoch)
    stale = {"transactional_id": "a", "transaction_timeout_ms": 1, "producer_id": 0}
    assert init(client, 3, producer_epoch=0, **stale) == (47, -1, -1)
    assert init(client, 4, producer_epoch=0, **stale) == (90, -1, -1)
