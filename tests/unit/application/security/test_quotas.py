"""Quotas that another broker has altered, and the right to alter them."""

from __future__ import annotations

from math import inf

import pytest

from application.ports.log_store import NotInMemory
from application.security.quotas import QuotaAlteration
from domain.security.quota import CONNECTION_CREATION_RATE, PRODUCER_BYTE_RATE, QuotaEntity
from tests.fakes.broker import FakeBroker
from tests.fakes.following_brokers import FollowingBrokers

ANN = QuotaEntity(user="ann", client_id=None, ip=None)


def alter(fake: FakeBroker, parts: dict[str, str | None], key: str, value: float | None) -> None:
    fake.broker.quota_service.alter([QuotaAlteration(parts, [(key, value)])], False)


def test_the_quota_of_a_user_is_followed() -> None:
    two = FollowingBrokers()
    quotas = two.second.broker.quotas
    alter(two.first, {"user": "ann"}, PRODUCER_BYTE_RATE, 1000.0)
    assert quotas.unlimited
    two.run()
    assert quotas.quotas == {ANN: {PRODUCER_BYTE_RATE: 1000.0}} and not quotas.unlimited
    alter(two.first, {"user": "ann"}, PRODUCER_BYTE_RATE, None)
    two.run()
    assert quotas.quotas == {} and quotas.unlimited
    assert two.second.events.of("quotas_altered") == []


def test_the_quota_of_an_address_is_followed() -> None:
    two = FollowingBrokers()
    for value, rate in ((7.0, 7.0), (None, inf)):
        alter(two.first, {"ip": "192.0.2.1"}, CONNECTION_CREATION_RATE, value)
        two.run()
        assert two.second.broker.quotas.connection_rate("192.0.2.1") == rate


def test_an_alteration_waits_for_the_right() -> None:
    fake = FakeBroker()
    fake.changes.withhold()
    alteration = QuotaAlteration({"user": "ann"}, [(PRODUCER_BYTE_RATE, 1000.0)])
    assert fake.broker.quota_service.alter([alteration], True) == [ANN]
    with pytest.raises(NotInMemory):
        alter(fake, {"user": "ann"}, PRODUCER_BYTE_RATE, 1000.0)
    assert fake.store.staged == []
    fake.changes.give()
    alter(fake, {"user": "ann"}, PRODUCER_BYTE_RATE, 1000.0)
    fake.run()
    assert fake.broker.quotas.quotas.keys() == {ANN}
