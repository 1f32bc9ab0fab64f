from __future__ import annotations

from application.metrics.quotas import MOST, QuotaReadings
from application.security.client_quotas import ClientQuotas
from domain.configs.broker import BrokerConfig
from domain.security.principal import ANONYMOUS
from domain.security.quota import DEFAULT, PRODUCER_BYTE_RATE, REQUEST_PERCENTAGE, QuotaEntity
from tests.fakes.clock import FakeClock
from tests.unit.application.metrics.figures import by_labels


def test_the_rates_and_throttle_times_of_clients_with_quotas() -> None:
    quotas = ClientQuotas(FakeClock(), BrokerConfig())
    quotas.put(QuotaEntity(DEFAULT), {PRODUCER_BYTE_RATE: 100.0})
    quotas.put(QuotaEntity(None, "app"), {REQUEST_PERCENTAGE: 50.0})
    quotas.count(ANONYMOUS, "app", 100_000_000, produced_bytes=1_500)
    figures = by_labels(QuotaReadings(quotas).read())
    assert figures["kafka_server_produce_byte_rate", "ANONYMOUS", ""] == 150
    assert figures["kafka_server_produce_throttle_time", "ANONYMOUS", ""] == 5_000
    assert figures["kafka_server_request_request_time", "", "app"] == 1
    assert figures["kafka_server_request_throttle_time", "", "app"] == 0


def test_the_number_of_metrics_is_bounded() -> None:
    quotas = ClientQuotas(FakeClock(), BrokerConfig())
    quotas.put(QuotaEntity(None, DEFAULT), {PRODUCER_BYTE_RATE: 100.0})
    for number in range(MOST + 100):
        quotas.count(ANONYMOUS, str(number), 0, produced_bytes=1)
    readings = list(QuotaReadings(quotas).read())
    assert sum(len(samples) for _, samples in readings) == 2 * MOST
    assert len(readings) > MOST // 100
