"""Quotas through sessions: what throttled clients get, as Apache Kafka 4.2 responds."""

from __future__ import annotations

from typing import Any

import pytest

from domain.configs.resource import ALL_BROKERS
from interfaces.kafka.requests.apis import APIS, Api
from interfaces.kafka.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from interfaces.kafka.wire.messages.create_topics import CreateTopicsRequest
from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from interfaces.kafka.wire.messages.describe_client_quotas import DescribeClientQuotasRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.plain_requests import plain_request
from tests.fakes.requests import fetch, kinds, metadata, produce
from tests.fakes.topic_requests import new

WINDOWS_MS = 11_000
EXCEEDED = 89


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    return kafka


def set_quota(kafka: FakeKafka, *entity: tuple[str, str | None], **quotas: float) -> None:
    client = kafka.client("198.51.100.1")
    entry = EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[OpData(key=key, value=value, remove=not value) for key, value in quotas.items()],
    )
    [result] = client.request(AlterClientQuotasRequest(entries=[entry]), 1).entries
    assert result.error_code == 0, result.error_message
    client.transport.drop()


def limit(kafka: FakeKafka, **quotas: float) -> None:
    set_quota(kafka, ("client-id", "a-client"), **quotas)


def test_repeated_produce_requests_are_counted_and_throttled(
    kafka: FakeKafka, client: FakeClient
) -> None:
    for _ in range(3):
        client.request(produce("x" * 100), 9)  # recognised from the second on
    assert kafka.shared.routes.made[0, 9].repeated
    limit(kafka, producer_byte_rate=100.0)
    times = []
    while not times or not times[-1]:
        response = client.request(produce("x" * 100), 9)
        times.append(response.throttle_time_ms)
        assert response.responses[0].partition_responses[0].base_offset == len(times) + 2
    assert len(times) == 5  # of about 240 bytes: 1,000 are allowed
    client.send(metadata("t"), 12)
    kafka.scheduler.advance(times[-1] - 1)
    assert client.responses() == []
    kafka.scheduler.advance(1)
    assert kinds(client.responses()) == ["Metadata"]


def test_a_producer_without_acks_is_muted(kafka: FakeKafka, client: FakeClient) -> None:
    limit(kafka, producer_byte_rate=1.0)
    client.send(produce("x" * 100, acks=0), 9)
    client.send(metadata("t"), 12)
    kafka.run()
    assert client.responses() == []
    kafka.scheduler.advance(10 * WINDOWS_MS * 100)
    assert kinds(client.responses()) == ["Metadata"]


def test_a_throttled_fetch_has_no_partitions_and_loses_nothing(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.request(produce("x" * 600), 9)
    limit(kafka, consumer_byte_rate=100.0)
    first = client.request(fetch(0), 12)
    records = first.responses[0].partitions[0].records
    assert first.throttle_time_ms == 0 and len(records) > 600
    second = client.request(fetch(0), 12)
    assert second.throttle_time_ms > 0
    assert (second.responses, second.session_id, second.error_code) == ([], 0, 0)
    kafka.scheduler.advance(WINDOWS_MS)
    third = client.request(fetch(0), 12)
    assert third.responses[0].partitions[0].records == records


def test_a_throttled_first_fetch_opens_no_session(kafka: FakeKafka, client: FakeClient) -> None:
    client.request(produce("x" * 600), 9)
    limit(kafka, consumer_byte_rate=10.0)
    assert kafka.client().request(fetch(0), 12).responses
    opening = fetch(0)
    opening.session_epoch = 0
    response = client.request(opening, 12)
    assert response.throttle_time_ms > 0 and response.session_id == 0
    assert len(kafka.broker.messages.fetch_sessions) == 0


def test_a_throttled_fetch_of_a_session_continues_it(kafka: FakeKafka, client: FakeClient) -> None:
    opening = fetch(0)
    opening.session_epoch = 0
    session_id = client.request(opening, 12).session_id
    kafka.client().request(produce("x" * 600), 9)
    limit(kafka, consumer_byte_rate=10.0)
    assert kafka.client().request(fetch(0), 12).responses
    again = fetch(0)
    again.session_id, again.session_epoch, again.topics = session_id, 1, []
    throttled = client.request(again, 12)
    assert (throttled.session_id, throttled.responses) == (session_id, [])
    limit(kafka, consumer_byte_rate=1e9)
    kafka.scheduler.advance(throttled.throttle_time_ms)
    again.session_epoch = 2
    assert client.request(again, 12).responses[0].partitions[0].records


def test_a_fetch_asks_for_no_more_than_its_quota_allows(
    kafka: FakeKafka, client: FakeClient
) -> None:
    for _ in range(20):
        client.request(produce("x" * 400), 9)
    limit(kafka, consumer_byte_rate=100.0)
    response = client.request(fetch(0), 12)
    assert response.throttle_time_ms == 0
    assert 400 < len(response.responses[0].partitions[0].records) <= 1_000


def test_request_time_is_counted_and_throttled_for_a_window_at_most(
    kafka: FakeKafka, client: FakeClient
) -> None:
    limit(kafka, request_percentage=1e-9)
    response = client.request(metadata("t"), 12)
    assert response.throttle_time_ms == 1_000
    kafka.scheduler.advance(1_000)
    assert client.request(metadata(), 12).throttle_time_ms == 1_000


def test_cached_metadata_is_counted(kafka: FakeKafka, client: FakeClient) -> None:
    request = metadata()
    request.topics = None
    client.request(request, 12)
    client.request(request, 12)
    limit(kafka, request_percentage=1e-9)
    assert client.request(request, 12).throttle_time_ms == 1_000


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_every_api_responds_to_a_throttled_client(kafka: FakeKafka, api: Api) -> None:
    limit(kafka, request_percentage=1e-9)
    for version in range(api.first_served, api.max_version + 1):
        client = kafka.client()
        client.send(plain_request(api.name, version, b""), version)
        kafka.scheduler.advance(10_000)  # JoinGroup waits for others
        [response] = client.responses()
        assert not client.closed
        assert getattr(response, "throttle_time_ms", 0) in (0, 1_000)


def test_only_clients_with_a_quota_are_throttled(kafka: FakeKafka, client: FakeClient) -> None:
    set_quota(kafka, ("client-id", "another"), producer_byte_rate=1.0, request_percentage=1e-9)
    for _ in range(3):
        assert client.request(produce("x" * 100), 9).throttle_time_ms == 0


def test_a_removed_quota_no_longer_applies(kafka: FakeKafka, client: FakeClient) -> None:
    limit(kafka, producer_byte_rate=1.0)
    throttle_ms = client.request(produce("x" * 100), 9).throttle_time_ms
    assert throttle_ms
    limit(kafka, producer_byte_rate=0.0)
    kafka.scheduler.advance(throttle_ms)
    assert kafka.broker.quotas.unlimited
    assert client.request(produce("x" * 100), 9).throttle_time_ms == 0


# ---- topics


def _create(name: str, partitions: int) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=[new(name, partitions)])


def test_topics_over_the_quota_are_refused_or_throttled(kafka: FakeKafka) -> None:
    limit(kafka, controller_mutation_rate=1.0)

    def ask(request: Any, version: int) -> tuple[list[tuple[int, str | None]], int]:
        response = kafka.client().request(request, version)
        results = getattr(response, "topics", None) or getattr(response, "results", None)
        results = results or response.responses
        found = [(one.error_code, getattr(one, "error_message", None)) for one in results]
        return found, response.throttle_time_ms

    assert ask(_create("a", 12), 7) == ([(0, None)], 0)
    assert ask(_create("b", 1), 7) == ([(EXCEEDED, None)], 1_000)
    only = _create("b", 1)
    only.validate_only = True
    assert ask(only, 6) == ([(EXCEEDED, None)], 1_000)
    delete = DeleteTopicsRequest(topics=[DeleteTopicState(name="a")])
    assert ask(delete, 6) == ([(EXCEEDED, None)], 1_000)
    more = CreatePartitionsTopic(name="a", count=14, assignments=None)
    grow = CreatePartitionsRequest(topics=[more])
    assert ask(grow, 3) == ([(EXCEEDED, None)], 1_000)
    assert kafka.existing("a").partition_ids
    # Requests that are refused for another reason do not count.
    assert ask(_create("a", 1), 7)[1] == 0
    # Older versions do not know the error: they are done, and throttled.
    assert ask(grow, 2) == ([(0, None)], 3_000)
    assert ask(DeleteTopicsRequest(topic_names=["a"]), 4) == ([(0, None)], 17_000)
    assert ask(_create("b", 1), 5) == ([(0, None)], 18_000)
    kafka.scheduler.advance(18_000)
    assert ask(_create("c", 1), 7) == ([(0, None)], 0)


# ---- connections


def test_connections_over_the_quota_of_their_address_are_closed_later(kafka: FakeKafka) -> None:
    set_quota(kafka, ("ip", None), connection_creation_rate=1.0)
    served = [kafka.client() for _ in range(10)]
    assert all(one.request(metadata("t"), 12) for one in served)
    refused = kafka.client()
    assert not refused.closed and not refused.transport.reading
    kafka.scheduler.advance(999)
    assert not refused.closed
    kafka.scheduler.advance(1)
    assert refused.closed and len(kafka.shared.sessions) == 10
    [line] = kafka.events.of("connection_refused")
    assert line["reason"] == "connection_creation_rate"
    assert kafka.client("192.0.2.99").request(metadata("t"), 12)


def test_refused_connections_are_closed_at_the_end(kafka: FakeKafka) -> None:
    set_quota(kafka, ("ip", None), connection_creation_rate=1.0)
    clients = [kafka.client() for _ in range(12)]
    kafka.shared.abort_all()
    kafka.run()
    assert all(one.closed for one in clients)


def test_connections_over_the_rate_of_the_broker_are_served_later() -> None:
    kafka = FakeKafka(max_connection_creation_rate="1")
    kafka.topic("t")
    for _ in range(10):
        kafka.client()
    late = kafka.client()
    late.send(metadata("t"), 12)
    kafka.scheduler.advance(999)
    assert late.responses() == []
    kafka.scheduler.advance(1)
    assert kinds(late.responses()) == ["Metadata"]


# ---- the store


def test_quotas_survive_a_restart_and_a_reset_deletes_them(kafka: FakeKafka) -> None:
    limit(kafka, producer_byte_rate=1.0)
    again = FakeKafka.restarted(kafka)
    assert not again.broker.quotas.unlimited
    failures: list[object] = []
    again.broker.reset.reset().then(failures.append)
    again.run()
    assert failures == [None]
    assert again.broker.quotas.unlimited and again.core.quotas.load() == {}
    assert again.core.configs.load().get(ALL_BROKERS) is None


def test_a_request_that_changes_too_many_values_changes_none(
    kafka: FakeKafka, client: FakeClient
) -> None:
    def altered(count: int) -> set[tuple[int, str | None]]:
        entries = [
            EntryData(
                entity=[EntityData(entity_type="user", entity_name=f"u{number}")],
                ops=[OpData(key="producer_byte_rate", value=1.0, remove=False)],
            )
            for number in range(count)
        ]
        response = client.request(AlterClientQuotasRequest(entries=entries), 1)
        return {(one.error_code, one.error_message) for one in response.entries}

    excessive = 44, "Request parameters do not satisfy the configured policy."
    assert altered(10_001) == {excessive}
    assert kafka.broker.quotas.unlimited
    assert altered(10_000) == {(0, None)}
    # Those that have their values do not count.
    assert altered(10_001) == {(0, None)}


def test_a_quota_that_could_not_be_persisted_does_not_apply(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.commit.fail_next()
    entry = EntryData(
        entity=[EntityData(entity_type="user", entity_name="u")],
        ops=[OpData(key="producer_byte_rate", value=1.0, remove=False)],
    )
    [result] = client.request(AlterClientQuotasRequest(entries=[entry]), 1).entries
    assert result.error_code == 56
    assert client.request(DescribeClientQuotasRequest(), 1).entries == []
    assert kafka.broker.quotas.unlimited
