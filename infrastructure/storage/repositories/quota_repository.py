"""Quotas as rows, the same for every engine.

quotas          JSON: [user, client id, ip] -> JSON: {quota: value}; null is no part of the entity,
                "" the default
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from domain.security.quota import QuotaEntity, Quotas

_QUOTAS = "quotas"
_NO_QUOTAS = b"{}"


class StoredQuotaRepository:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def load(self) -> dict[QuotaEntity, Quotas]:
        return dict(_loaded(key, row) for key, row in self._state.scan(_QUOTAS))

    def save(self, entity: QuotaEntity, quotas: Quotas) -> None:
        row = _encoded(dict(quotas)) if quotas else None
        self._state.put(_QUOTAS, _encoded(entity), row)

    def follow(self, changed: Callable[[Mapping[QuotaEntity, Quotas]], None]) -> None:
        def rows_changed(keys: Sequence[bytes]) -> None:
            rows = [(key, self._state.get(_QUOTAS, key) or _NO_QUOTAS) for key in keys]
            changed(dict(_loaded(*row) for row in rows))

        self._state.follow(_QUOTAS, rows_changed)


def _encoded(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _loaded(key: bytes, row: bytes) -> tuple[QuotaEntity, Quotas]:
    try:
        user, client_id, ip = json.loads(key)
        quotas = {str(quota): float(value) for quota, value in json.loads(row).items()}
        return QuotaEntity(user, client_id, ip), quotas
    except (ValueError, TypeError, AttributeError, RecursionError) as damage:
        raise StorageFailed(f"The store could not read quotas {key!r}: {damage!r}") from damage
