"""Rows in memory, committed together with the log's batches."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from functools import partial

from application.ports.state_store import RowChange
from infrastructure.storage.memory.store import MemoryStore


class MemoryStateStore:
    __slots__ = ("_store",)

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def get(self, table: str, key: bytes) -> bytes | None:
        return self._store.tables.get(table, {}).get(key)

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        self._store.staged.append(partial(self._change, table, key, value))

    def put_all(self, table: str, rows: Sequence[RowChange]) -> None:
        def change() -> None:
            for key, value in rows:
                self._change(table, key, value)

        self._store.staged.append(change)

    def _change(self, table: str, key: bytes, value: bytes | None) -> None:
        rows = self._store.tables.setdefault(table, {})
        keys = self._store.keys.setdefault(table, [])
        if value is not None:
            if key not in rows:
                insort(keys, key)
            rows[key] = value
        elif rows.pop(key, None) is not None:
            del keys[bisect_left(keys, key)]

    def follow(self, table: str, changed: Callable[[Sequence[bytes]], None]) -> None:
        """Only this broker changes rows."""

    def scan(
        self, table: str, first: bytes = b"", limit: int | None = None
    ) -> list[tuple[bytes, bytes]]:
        rows = self._store.tables.get(table, {})
        keys = self._store.keys.get(table, [])
        start = bisect_left(keys, first)
        end = len(keys) if limit is None else start + limit
        return [(key, rows[key]) for key in keys[start:end]]

    def tables(self) -> list[str]:
        return sorted(table for table, rows in self._store.tables.items() if rows)
