"""RegistrationRepository over every engine."""

from __future__ import annotations

import pytest

from domain.cluster.nodes import NO_LEADER
from domain.cluster.registration import PartitionRegistration
from domain.errors import StorageFailed
from infrastructure.storage.repositories.registration_repository import (
    StoredRegistrationRepository,
)
from tests.contract.engines import OpenStore

LED = PartitionRegistration((3, 1, 2_000_000_000), 1, 7, target=(4, 5))
NOT_LED = PartitionRegistration((1,), NO_LEADER.node_id, 0)


def test_registrations_stay_and_are_deleted(lasting_store: OpenStore) -> None:
    registrations = StoredRegistrationRepository(lasting_store.state)
    registrations.save([(0, NOT_LED), (1, LED), (4_000_000_000, LED)])
    registrations.save([(1, LED.raised()), (0, NOT_LED)])
    assert list(registrations.load()) == []
    lasting_store.keep()
    lasting_store.reopen()
    registrations = StoredRegistrationRepository(lasting_store.state)
    assert dict(registrations.load()) == {0: NOT_LED, 1: LED.raised(), 4_000_000_000: LED}
    registrations.save([(1, None)])
    lasting_store.keep()
    assert 1 not in dict(registrations.load())


def test_a_damaged_row_is_reported(lasting_store: OpenStore) -> None:
    lasting_store.state.put("leaders", b"\0\0\0\7", b"\0\0")
    lasting_store.keep()
    with pytest.raises(StorageFailed, match="the leader of partition 7"):
        list(StoredRegistrationRepository(lasting_store.state).load())
