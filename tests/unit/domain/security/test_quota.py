from __future__ import annotations

from math import inf, nan

import pytest

from domain.errors import InvalidRequest
from domain.security.quota import (
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    DEFAULT,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    QuotaEntity,
    Scope,
    altered,
    candidates,
    quota_entity,
)

USER = QuotaEntity("ann")


def test_the_most_specific_quota_has_precedence() -> None:
    assert list(candidates("ann", "app")) == [
        (QuotaEntity("ann", "app"), Scope("ann", "app")),
        (QuotaEntity("ann", DEFAULT), Scope("ann", "app")),
        (QuotaEntity("ann"), Scope("ann", "")),
        (QuotaEntity(DEFAULT, "app"), Scope("ann", "app")),
        (QuotaEntity(DEFAULT, DEFAULT), Scope("ann", "app")),
        (QuotaEntity(DEFAULT), Scope("ann", "")),
        (QuotaEntity(None, "app"), Scope("", "app")),
        (QuotaEntity(None, DEFAULT), Scope("", "app")),
    ]


def test_an_empty_client_id_has_quotas_of_its_user_only() -> None:
    assert [entity for entity, _ in candidates("ann", "")] == [USER, QuotaEntity(DEFAULT)]


def test_a_null_name_is_the_default() -> None:
    entity = quota_entity({"user": None, "client-id": "app"})
    assert entity == QuotaEntity(DEFAULT, "app")
    assert dict(entity.parts()) == {"user": None, "client-id": "app"}
    assert str(entity) == "ClientQuotaEntity(entries={client-id=app, user=null})"


def test_changes_are_merged_and_none_removes() -> None:
    now = {PRODUCER_BYTE_RATE: 1.0, CONSUMER_BYTE_RATE: 2.0}
    changes = {PRODUCER_BYTE_RATE: None, REQUEST_PERCENTAGE: 0.5, "no.such.key": None}
    assert altered(USER, now, changes) == {CONSUMER_BYTE_RATE: 2.0, REQUEST_PERCENTAGE: 0.5}
    assert now == {PRODUCER_BYTE_RATE: 1.0, CONSUMER_BYTE_RATE: 2.0}


@pytest.mark.parametrize("value", [nan, -inf, 0.0, -0.1])
def test_a_quota_must_be_positive(value: float) -> None:
    with pytest.raises(InvalidRequest, match="must be greater than 0"):
        altered(USER, {}, {PRODUCER_BYTE_RATE: value})


def test_bytes_and_connections_are_whole_numbers() -> None:
    address = quota_entity({"ip": "2001:db8::1"})
    assert altered(address, {}, {CONNECTION_CREATION_RATE: 2.0**31 - 1})
    assert altered(USER, {}, {REQUEST_PERCENTAGE: inf})
    with pytest.raises(InvalidRequest, match="too large for an INT"):
        altered(address, {}, {CONNECTION_CREATION_RATE: 2.0**31})
    with pytest.raises(InvalidRequest, match="fractional"):
        altered(USER, {}, {CONSUMER_BYTE_RATE: 1.5})
    with pytest.raises(InvalidRequest, match="too large for a LONG"):
        altered(USER, {}, {CONSUMER_BYTE_RATE: inf})
