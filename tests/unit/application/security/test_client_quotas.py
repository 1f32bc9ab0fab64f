from __future__ import annotations

from math import inf

import pytest

from application.security.client_quotas import IDLE_MS, MAX_CLIENTS, ClientQuotas
from domain.configs.broker import BrokerConfig
from domain.errors import ThrottlingQuotaExceeded
from domain.security.principal import ANONYMOUS, Principal
from domain.security.quota import (
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    DEFAULT,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    QuotaEntity,
)
from tests.fakes.clock import FakeClock

ANN, BOB = Principal("User", "ann"), Principal("User", "bob")
SECOND_NS = 1_000_000_000


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def quotas(clock: FakeClock) -> ClientQuotas:
    return ClientQuotas(clock, BrokerConfig())


def produce(quotas: ClientQuotas, principal: Principal, client_id: str, size_bytes: int) -> int:
    return quotas.count(principal, client_id, 0, produced_bytes=size_bytes)


def test_nothing_is_counted_while_clients_have_no_quotas(quotas: ClientQuotas) -> None:
    assert quotas.unlimited
    quotas.put(QuotaEntity(None, None, DEFAULT), {CONNECTION_CREATION_RATE: 1.0})
    assert quotas.unlimited
    quotas.put(QuotaEntity("ann"), {PRODUCER_BYTE_RATE: 1.0})
    assert not quotas.unlimited
    quotas.put(QuotaEntity("ann"), {})
    assert quotas.unlimited


def test_all_client_ids_of_a_user_share_the_quota_of_the_user(quotas: ClientQuotas) -> None:
    quotas.put(QuotaEntity(DEFAULT), {PRODUCER_BYTE_RATE: 100.0})
    assert produce(quotas, ANN, "a", 1_000) == 0
    assert produce(quotas, ANN, "b", 1_000) == 10_000
    assert produce(quotas, BOB, "a", 1_000) == 0


def test_each_client_id_has_the_default_quota_for_itself(quotas: ClientQuotas) -> None:
    quotas.put(QuotaEntity(None, DEFAULT), {PRODUCER_BYTE_RATE: 100.0})
    assert produce(quotas, ANN, "a", 1_000) == 0
    assert produce(quotas, BOB, "a", 1_000) == 10_000
    assert produce(quotas, BOB, "b", 1_000) == 0
    assert produce(quotas, BOB, "", 1_000_000) == 0


def test_a_quota_is_found_for_each_kind_by_itself(quotas: ClientQuotas) -> None:
    quotas.put(QuotaEntity("ann", "a"), {CONSUMER_BYTE_RATE: 100.0})
    quotas.put(QuotaEntity("ann"), {PRODUCER_BYTE_RATE: 100.0})
    assert produce(quotas, ANN, "a", 2_000) == 10_000
    assert quotas.most_fetched_bytes(ANN, "a") == 1_000
    assert quotas.most_fetched_bytes(ANN, "b") == inf


def test_a_changed_quota_applies_to_what_was_counted_before(quotas: ClientQuotas) -> None:
    quotas.put(QuotaEntity("ann"), {PRODUCER_BYTE_RATE: 100.0})
    assert produce(quotas, ANN, "a", 1_000) == 0
    quotas.put(QuotaEntity("ann"), {PRODUCER_BYTE_RATE: 1e9})
    assert produce(quotas, ANN, "a", 1) == 0
    quotas.put(QuotaEntity("ann"), {PRODUCER_BYTE_RATE: 50.0})
    assert produce(quotas, ANN, "b", 1) == 10_040


def test_fetched_bytes_of_a_throttled_response_do_not_count(
    quotas: ClientQuotas, clock: FakeClock
) -> None:
    quotas.put(QuotaEntity("ann"), {CONSUMER_BYTE_RATE: 100.0})
    assert quotas.count(ANN, "a", 0, fetched_bytes=1_000) == 0
    for _ in range(3):
        assert quotas.count(ANN, "a", 0, fetched_bytes=1_000) == 10_000
    clock.advance(11_000)
    assert quotas.count(ANN, "a", 0, fetched_bytes=1_000) == 0


def test_a_batch_that_is_larger_than_all_windows_is_sent_in_an_idle_moment(
    quotas: ClientQuotas, clock: FakeClock
) -> None:
    quotas.put(QuotaEntity("ann"), {CONSUMER_BYTE_RATE: 100.0})
    assert quotas.count(ANN, "a", 0, fetched_bytes=1_000_000) == 0
    assert quotas.count(ANN, "a", 0, fetched_bytes=1_000_000) == 10_000
    clock.advance(11_000)
    assert quotas.count(ANN, "a", 0, fetched_bytes=1_000_000) == 0


def test_request_percentage_is_a_share_of_the_loop_and_at_most_a_window(
    quotas: ClientQuotas, clock: FakeClock
) -> None:
    quotas.put(QuotaEntity("ann"), {REQUEST_PERCENTAGE: 10.0})
    assert quotas.count(ANN, "a", SECOND_NS) == 0  # 100 % of one of ten seconds
    assert quotas.count(ANN, "a", SECOND_NS // 100) == 100
    assert quotas.count(ANN, "a", SECOND_NS) == 1_000
    clock.advance(11_000)
    assert quotas.count(ANN, "a", 1) == 0


def test_the_longest_throttle_time_counts(quotas: ClientQuotas) -> None:
    quotas.put(QuotaEntity("ann"), {REQUEST_PERCENTAGE: 1.0, PRODUCER_BYTE_RATE: 100.0})
    assert quotas.count(ANN, "a", SECOND_NS, produced_bytes=1_001) == 1_000
    assert quotas.count(ANN, "a", 0, produced_bytes=1_000) == 10_010
    found = {sensor.key: throttled for sensor, _, throttled in quotas.sensors()}
    assert found == {REQUEST_PERCENTAGE: 1_000, PRODUCER_BYTE_RATE: 10_010}
    assert quotas.count(ANN, "a", 0, least_ms=7) == 7


def test_a_strict_mutation_over_the_quota_is_refused(
    quotas: ClientQuotas, clock: FakeClock
) -> None:
    quotas.put(QuotaEntity("ann"), {CONTROLLER_MUTATION_RATE: 1.0})
    first = quotas.mutations(ANN, "a", strict=True)
    first.record(12)  # as Kafka: only the next one is refused
    assert first.throttled() == 0
    second = quotas.mutations(ANN, "a", strict=True)
    with pytest.raises(ThrottlingQuotaExceeded):
        second.record(1)
    assert second.throttled() == 1_000
    clock.advance(1_000)
    quotas.mutations(ANN, "a", strict=True).record(1)


def test_an_older_mutation_is_done_and_throttled(quotas: ClientQuotas) -> None:
    quotas.put(QuotaEntity("ann"), {CONTROLLER_MUTATION_RATE: 1.0})
    quota = quotas.mutations(ANN, "a", strict=False)
    quota.record(12)
    quota.record(1)
    assert quota.throttled() == 2_000
    other = quotas.mutations(BOB, "a", strict=True)
    other.record(1_000)
    other.record(1_000)


def test_idle_clients_are_dropped_after_an_hour(quotas: ClientQuotas, clock: FakeClock) -> None:
    quotas.put(QuotaEntity(None, DEFAULT), {PRODUCER_BYTE_RATE: 1.0})
    for number in range(10):
        produce(quotas, ANN, f"c{number}", 1)
    assert len(list(quotas.sensors())) == 10
    clock.advance(IDLE_MS - 1)
    produce(quotas, ANN, "c0", 1)
    clock.advance(1)
    assert [sensor.scope.client_id for sensor, _, _ in quotas.sensors()] == ["c0"]


def test_the_number_of_clients_is_bounded(quotas: ClientQuotas) -> None:
    quotas.put(QuotaEntity(None, DEFAULT), {PRODUCER_BYTE_RATE: 1.0})
    for number in range(MAX_CLIENTS + 100):
        produce(quotas, ANONYMOUS, f"c{number}", 100)
    assert len(quotas._clients) == len(quotas._sensors) == MAX_CLIENTS
    assert produce(quotas, ANONYMOUS, f"c{MAX_CLIENTS}", 1) > 0


def test_long_client_ids_take_bounded_memory(quotas: ClientQuotas) -> None:
    quotas.put(QuotaEntity(None, DEFAULT), {PRODUCER_BYTE_RATE: 1.0})
    assert produce(quotas, ANN, "c" * 30_000 + "1", 1) == 0
    assert produce(quotas, ANN, "c" * 30_000 + "2", 20) > 0
    assert max(len(client_id) for _, client_id in quotas._clients) == 255


def test_removing_the_last_quota_frees_all_clients(quotas: ClientQuotas) -> None:
    quotas.put(QuotaEntity(None, DEFAULT), {PRODUCER_BYTE_RATE: 1.0})
    produce(quotas, ANN, "a", 1)
    quotas.put(QuotaEntity(None, DEFAULT), {})
    assert not quotas._clients and not quotas._sensors


def test_addresses_are_compared_as_addresses(quotas: ClientQuotas) -> None:
    quotas.put(QuotaEntity(None, None, "2001:DB8:0::7"), {CONNECTION_CREATION_RATE: 5.0})
    assert quotas.connection_rate("2001:db8::7") == 5.0
    assert quotas.connection_rate("192.0.2.1") == inf
    quotas.put(QuotaEntity(None, None, DEFAULT), {CONNECTION_CREATION_RATE: 2.0})
    assert quotas.connection_rate("192.0.2.1") == 2.0
