"""AclRepository over every engine."""

from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from domain.security.access import Operation, ResourceType
from domain.security.acl import AclBinding, PatternType, Permission
from infrastructure.storage.repositories.acl_repository import StoredAclRepository
from tests.contract.engines import OpenStore

ALICE = AclBinding(
    ResourceType.TOPIC,
    "orders",
    PatternType.PREFIXED,
    "User:alice",
    "*",
    Operation.READ,
    Permission.ALLOW,
)


def test_saved_acls_are_loaded_after_the_commit(store: OpenStore) -> None:
    acls = StoredAclRepository(store.state)
    others = [
        ALICE._replace(resource_name="größe\0" * 1000),
        ALICE._replace(principal="User:CN=alice,O=ottla", permission=Permission.DENY),
        *(ALICE._replace(operation=one) for one in Operation if one is not Operation.READ),
        *(ALICE._replace(resource_type=one) for one in ResourceType if one.value != "Topic"),
    ]
    for one in (ALICE, *others):
        acls.save(one, True)
    assert acls.load() == []
    store.keep()
    assert set(acls.load()) == {ALICE, *others}


def test_an_acl_has_one_row_until_it_is_deleted(store: OpenStore) -> None:
    acls = StoredAclRepository(store.state)
    acls.save(ALICE, True)
    acls.save(ALICE, True)
    store.keep()
    assert acls.load() == [ALICE]
    acls.save(ALICE, False)
    store.keep()
    assert acls.load() == []


@pytest.mark.parametrize(
    "row", [b"{", b"[]", b'["Topic","t","Literal","User:a","*","Fly","Allow"]']
)
def test_a_row_that_cannot_be_read_is_an_error(store: OpenStore, row: bytes) -> None:
    store.state.put("acls", b"\0" * 32, row)
    store.keep()
    with pytest.raises(StorageFailed, match="could not read ACL 0000"):
        StoredAclRepository(store.state).load()
