"""UserRepository over every engine."""

from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from domain.security.scram import ScramMechanism
from infrastructure.storage.repositories.user_repository import StoredUserRepository
from tests.contract.engines import OpenStore
from tests.fakes.sasl import credential

SHA_256, SHA_512 = ScramMechanism
BOTH = {SHA_256: credential(), SHA_512: credential("other", SHA_512, 8192)}


def test_saved_credentials_are_loaded_after_the_commit(store: OpenStore) -> None:
    users = StoredUserRepository(store.state)
    users.save("ann", BOTH)
    users.save("größe,=\0", {SHA_256: credential()})
    assert users.load() == {}
    store.keep()
    assert users.load() == {"ann": BOTH, "größe,=\0": {SHA_256: credential()}}


def test_saving_again_replaces_all_credentials(store: OpenStore) -> None:
    users = StoredUserRepository(store.state)
    users.save("ann", BOTH)
    store.keep()
    users.save("ann", {SHA_512: credential("new", SHA_512)})
    store.keep()
    assert users.load() == {"ann": {SHA_512: credential("new", SHA_512)}}


def test_a_user_without_credentials_has_no_row(store: OpenStore) -> None:
    users = StoredUserRepository(store.state)
    users.save("ann", BOTH)
    store.keep()
    users.save("ann", {})
    store.keep()
    assert users.load() == {}


def test_a_damaged_row_is_named_without_its_secrets(store: OpenStore) -> None:
    store.state.put("users", b"ann", b'{"SCRAM-SHA-256":{"salt":"secret"}}')
    store.keep()
    with pytest.raises(StorageFailed) as failure:
        StoredUserRepository(store.state).load()
    assert failure.value.message == "The store could not read the credentials of user b'ann'"
    assert failure.value.__cause__ is None


def test_the_secret_for_unknown_users_stays(store: OpenStore) -> None:
    users = StoredUserRepository(store.state)
    assert users.decoy_secret() is None
    users.save_decoy_secret(b"random")
    store.keep()
    assert StoredUserRepository(store.state).decoy_secret() == b"random"
