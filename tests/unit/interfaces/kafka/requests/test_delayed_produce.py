"""Requests whose timeout is over while a commit takes long."""

from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.requests.delayed_produce import respond_to_late
from interfaces.kafka.wire.messages.produce import ProduceRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.placement import FakePlacement
from tests.fakes.requests import produce

NOT_LEADER_OR_FOLLOWER, REQUEST_TIMED_OUT, UNKNOWN_TOPIC_OR_PARTITION = 6, 7, 3
OVER_AT_ONCE, LONG = 0, 30_000
#: A request of this version repeats the first one, which the broker has cached.
REPEATED, DECODED = 9, 10


def request(timeout_ms: int = OVER_AT_ONCE) -> ProduceRequest:
    made = produce()
    made.timeout_ms = timeout_ms
    return made


def outcomes(client: FakeClient) -> list[tuple[int, int]]:
    """Error and base offset."""
    found: list[Any] = [one.responses[0].partition_responses[0] for one in client.responses()]
    return [(one.error_code, one.base_offset) for one in found]


@pytest.fixture
def kafka() -> FakeKafka:
    """A broker with one record in its topic."""
    kafka = FakeKafka()
    kafka.topic("t")
    return kafka


@pytest.fixture
def held(kafka: FakeKafka, client: FakeClient) -> FakeKafka:
    """It has responded to a request like those that follow; commits do not end."""
    client.request(request(), REPEATED)
    kafka.commit.hold()
    return kafka


def look(kafka: FakeKafka) -> None:
    kafka.run()
    respond_to_late(kafka.broker.commits)
    kafka.run()


@pytest.mark.parametrize("version", [REPEATED, DECODED])
def test_a_request_gets_a_response_when_its_timeout_is_over(
    held: FakeKafka, client: FakeClient, version: int
) -> None:
    client.send(request(), version)
    look(held)
    assert outcomes(client) == [(REQUEST_TIMED_OUT, 1)]
    held.commit.let_go()
    client.send(request(), version)
    held.run()
    assert outcomes(client) == [(0, 2)]


@pytest.mark.parametrize("version", [REPEATED, DECODED])
def test_without_a_lease_the_client_is_sent_to_other_brokers(
    held: FakeKafka, client: FakeClient, version: int
) -> None:
    assert isinstance(held.broker.placement, FakePlacement)
    held.broker.placement.has_lease = False
    for timeout_ms in (OVER_AT_ONCE, OVER_AT_ONCE, LONG):
        client.send(request(timeout_ms), version)
    look(held)
    assert outcomes(client) == [(NOT_LEADER_OR_FOLLOWER, 1), (NOT_LEADER_OR_FOLLOWER, 2)]
    held.commit.let_go()
    held.run()
    assert held.partition().high_watermark == 4


def test_others_wait_for_the_commit(held: FakeKafka, client: FakeClient) -> None:
    waiting, committed = held.client(), []
    waiting.send(request(timeout_ms=LONG), 9)
    held.broker.commits.wait(committed.append)
    client.send(request(), 9)
    look(held)
    assert (outcomes(waiting), outcomes(client), committed) == ([], [(REQUEST_TIMED_OUT, 2)], [])
    held.commit.let_go()
    held.run()
    assert (outcomes(waiting), committed) == ([(0, 1)], [None])


def test_a_request_behind_the_commit_under_way_waits_no_longer(
    held: FakeKafka, client: FakeClient
) -> None:
    other = held.client()
    client.send(request(timeout_ms=LONG), 9)
    held.run()
    other.send(request(), 9)
    look(held)
    assert (outcomes(client), outcomes(other)) == ([], [(REQUEST_TIMED_OUT, 2)])
    held.commit.let_fail()
    held.run()
    assert ([error for error, _ in outcomes(client)], outcomes(other)) == ([56], [])


def test_responses_are_sent_in_the_order_of_requests(held: FakeKafka, client: FakeClient) -> None:
    client.send(request(timeout_ms=LONG), 9)
    client.send(request(), 9)
    look(held)
    assert outcomes(client) == []
    held.commit.let_go()
    held.run()
    assert outcomes(client) == [(0, 1), (REQUEST_TIMED_OUT, 2)]


def test_a_partition_that_was_refused_keeps_its_error(held: FakeKafka, client: FakeClient) -> None:
    made = request()
    refused = produce(index=7).topic_data[0].partition_data
    made.topic_data[0].partition_data += refused
    client.send(made, 9)
    look(held)
    [topic] = client.responses()[0].responses
    codes = [one.error_code for one in topic.partition_responses]
    assert codes == [REQUEST_TIMED_OUT, UNKNOWN_TOPIC_OR_PARTITION]


def test_a_connection_that_is_closed_harms_nobody(held: FakeKafka, client: FakeClient) -> None:
    client.send(request(), 9)
    held.run()
    client.transport.drop()
    look(held)
    held.commit.let_go()
    held.run()
    assert held.partition().high_watermark == 2
