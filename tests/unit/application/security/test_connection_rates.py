from __future__ import annotations

import pytest

from application.security.client_quotas import ClientQuotas
from application.security.connection_rates import MAX_ADDRESSES, ConnectionRates
from domain.configs.broker import BrokerConfig
from domain.security.quota import CONNECTION_CREATION_RATE, DEFAULT, QuotaEntity
from tests.fakes.clock import FakeClock

ADDRESS = "192.0.2.7"


class Rates(ConnectionRates):
    def __init__(self, **settings: str) -> None:
        self.clock = FakeClock()
        config = BrokerConfig({name.replace("_", "."): text for name, text in settings.items()})
        self.quotas = ClientQuotas(self.clock, config)
        super().__init__(self.quotas, config, self.clock)


@pytest.fixture
def rates() -> Rates:
    rates = Rates()
    rates.quotas.put(QuotaEntity(None, None, DEFAULT), {CONNECTION_CREATION_RATE: 1.0})
    return rates


def test_connections_over_the_quota_of_their_address_are_refused(rates: Rates) -> None:
    assert [rates.refused_ms(ADDRESS) for _ in range(12)] == [0] * 10 + [1_000] * 2
    assert rates.refused_ms("192.0.2.8") == 0
    rates.clock.advance(11_000)
    assert rates.refused_ms(ADDRESS) == 0


def test_without_quotas_nothing_is_counted() -> None:
    rates = Rates()
    assert (rates.refused_ms(ADDRESS), rates.wait_ms()) == (0, 0)
    assert not rates._by_address and rates._all is None


def test_the_number_of_addresses_is_bounded(rates: Rates) -> None:
    for number in range(MAX_ADDRESSES + 5):
        rates.refused_ms(str(number))
    assert len(rates._by_address) == MAX_ADDRESSES


def test_connections_over_the_rate_of_the_broker_wait_for_their_turn() -> None:
    rates = Rates(max_connection_creation_rate="2")
    assert [rates.wait_ms() for _ in range(23)] == [0] * 20 + [500, 1_000, 1_500]
