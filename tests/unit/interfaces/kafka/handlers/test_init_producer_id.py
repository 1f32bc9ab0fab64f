from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from tests.fakes.client import FakeClient, FakeKafka


def ask(client: FakeClient, version: int = 4, **facts: Any) -> tuple[int, int, int]:
    facts.setdefault("transactional_id", None)
    response = client.ask(InitProducerIdRequest(**facts), version)
    return response.error_code, response.producer_id, response.producer_epoch


@pytest.mark.parametrize("version", range(6))
def test_every_producer_gets_an_id_of_its_own(version: int) -> None:
    client = FakeKafka().client()
    assert [ask(client, version) for _ in range(3)] == [(0, 0, 0), (0, 1, 0), (0, 2, 0)]


@pytest.mark.parametrize("version", range(6))
def test_a_transactional_id_is_refused_and_the_log_says_why(version: int) -> None:
    kafka = FakeKafka()
    assert ask(kafka.client(), version, transactional_id="a") == (53, -1, -1)
    [event] = kafka.events.of("transactional_id_refused")
    assert event["transactional_id"] == "a"
    assert "Transactions are not supported" in str(event["detail"])


def test_a_producer_that_has_an_id_gets_a_new_one() -> None:
    client = FakeKafka().client()
    ask(client)
    assert ask(client, producer_id=0, producer_epoch=3) == (0, 1, 0)


@pytest.mark.parametrize(("producer_id", "epoch"), [(-1, 5), (5, -1)])
def test_an_id_without_an_epoch_or_the_reverse_contradicts_itself(
    producer_id: int, epoch: int
) -> None:
    client = FakeKafka().client()
    assert ask(client, producer_id=producer_id, producer_epoch=epoch) == (42, -1, -1)


def test_an_empty_transactional_id_contradicts_itself() -> None:
    assert ask(FakeKafka().client(), transactional_id="") == (42, -1, -1)


def test_a_failed_commit_gives_no_id() -> None:
    kafka = FakeKafka()
    client = kafka.client()
    kafka.commit.fail_next()
    assert ask(client) == (56, -1, -1)
    assert ask(client) == (0, 0, 0)
