"""QuotaRepository over every engine."""

from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from domain.security.quota import DEFAULT, PRODUCER_BYTE_RATE, REQUEST_PERCENTAGE, QuotaEntity
from infrastructure.storage.repositories.quota_repository import StoredQuotaRepository
from tests.contract.engines import OpenStore

USER = QuotaEntity("ann")
ENTITIES = (
    USER,
    QuotaEntity(DEFAULT),
    QuotaEntity(None, "ann"),
    QuotaEntity(None, DEFAULT),
    QuotaEntity("ann", "ann"),
    QuotaEntity("ann", DEFAULT),
    QuotaEntity(None, None, "192.0.2.1"),
    QuotaEntity(None, None, DEFAULT),
    QuotaEntity("a\0b", 'größe"', None),
    QuotaEntity("g" * 600),
    QuotaEntity("g" * 599 + "h"),
)


def test_saved_quotas_are_loaded_after_the_commit(store: OpenStore) -> None:
    quotas = StoredQuotaRepository(store.state)
    for number, entity in enumerate(ENTITIES, 1):
        quotas.save(entity, {PRODUCER_BYTE_RATE: float(number), REQUEST_PERCENTAGE: 0.5})
    assert quotas.load() == {}
    store.keep()

    assert quotas.load() == {
        entity: {PRODUCER_BYTE_RATE: float(number), REQUEST_PERCENTAGE: 0.5}
        for number, entity in enumerate(ENTITIES, 1)
    }


def test_saving_again_replaces_all_quotas_and_none_deletes_the_row(store: OpenStore) -> None:
    quotas = StoredQuotaRepository(store.state)
    quotas.save(USER, {PRODUCER_BYTE_RATE: 1.0, REQUEST_PERCENTAGE: 2.0})
    store.keep()
    quotas.save(USER, {PRODUCER_BYTE_RATE: 3.0})
    store.keep()
    assert quotas.load() == {USER: {PRODUCER_BYTE_RATE: 3.0}}
    quotas.save(USER, {})
    store.keep()
    assert store.state.scan("quotas") == []


def test_quotas_survive_a_restart(lasting_store: OpenStore) -> None:
    StoredQuotaRepository(lasting_store.state).save(USER, {PRODUCER_BYTE_RATE: 2.0**62})
    lasting_store.keep()
    lasting_store.reopen()
    quotas = StoredQuotaRepository(lasting_store.state)
    assert quotas.load() == {USER: {PRODUCER_BYTE_RATE: 2.0**62}}


@pytest.mark.parametrize("row", [b"", b"\xff", b"[1]", b'{"producer_byte_rate":"x"}'])
def test_a_damaged_row_is_reported(store: OpenStore, row: bytes) -> None:
    store.state.put("quotas", b'["u",null,null]', row)
    store.keep()
    with pytest.raises(StorageFailed):
        StoredQuotaRepository(store.state).load()


def test_a_damaged_key_is_reported(store: OpenStore) -> None:
    store.state.put("quotas", b'["u"]', b"{}")
    store.keep()
    with pytest.raises(StorageFailed):
        StoredQuotaRepository(store.state).load()
