"""SCRAM credentials of users as rows, the same for every engine.

users           name -> {mechanism: {iterations, salt, stored_key, server_key}}, bytes in Base64
cluster         decoy_secret -> random bytes, for the salts of unknown users
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from domain.security.scram import MECHANISMS, Credentials, ScramCredential

_USERS = "users"
_NO_CREDENTIALS = b"{}"
_CLUSTER, _DECOY_SECRET = "cluster", b"decoy_secret"
_SECRETS = ("salt", "stored_key", "server_key")


class StoredUserRepository:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def load(self) -> dict[str, Credentials]:
        return dict(_user(key, row) for key, row in self._state.scan(_USERS))

    def save(self, name: str, credentials: Credentials) -> None:
        rows = {one.mechanism.sasl_name: _encoded(one) for one in credentials.values()}
        row = json.dumps(rows, separators=(",", ":")).encode() if rows else None
        self._state.put(_USERS, name.encode(), row)

    def follow(self, changed: Callable[[Mapping[str, Credentials]], None]) -> None:
        def rows_changed(keys: Sequence[bytes]) -> None:
            rows = [(key, self._state.get(_USERS, key) or _NO_CREDENTIALS) for key in keys]
            changed(dict(_user(*row) for row in rows))

        self._state.follow(_USERS, rows_changed)

    def decoy_secret(self) -> bytes | None:
        return self._state.get(_CLUSTER, _DECOY_SECRET)

    def save_decoy_secret(self, secret: bytes) -> None:
        self._state.put(_CLUSTER, _DECOY_SECRET, secret)


def _encoded(credential: ScramCredential) -> dict[str, object]:
    secrets = {name: b64encode(getattr(credential, name)).decode() for name in _SECRETS}
    return {"iterations": credential.iterations, **secrets}


def _user(key: bytes, row: bytes) -> tuple[str, Credentials]:
    """The error does not quote the row: it has secrets."""
    try:
        decoded = [_credential(mechanism, values) for mechanism, values in json.loads(row).items()]
        return key.decode(), {one.mechanism: one for one in decoded}
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise StorageFailed(f"The store could not read the credentials of user {key!r}") from None


def _credential(mechanism: str, values: Any) -> ScramCredential:
    salt, stored_key, server_key = (b64decode(values[name], validate=True) for name in _SECRETS)
    return ScramCredential(
        MECHANISMS[mechanism], int(values["iterations"]), salt, stored_key, server_key
    )
