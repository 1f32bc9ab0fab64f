"""Rows in memory, kept and forgotten together with the log's batches."""

from __future__ import annotations

from functools import partial

from infrastructure.storage.memory.store import MemoryStore


class MemoryStateStore:
    __slots__ = ("_store",)

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def get(self, table: str, key: bytes) -> bytes | None:
        return self._store.tables.get(table, {}).get(key)

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        self._store.staged.append(partial(self._change, table, key, value))

    def _change(self, table: str, key: bytes, value: bytes | None) -> None:
        rows = self._store.tables.setdefault(table, {})
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = value

    def scan(self, table: str) -> list[tuple[bytes, bytes]]:
        return sorted(self._store.tables.get(table, {}).items())
