"""The commit of the memory engine, which cannot fail."""

from __future__ import annotations

from collections.abc import Callable

from domain.errors import StorageFailed
from infrastructure.storage.memory.store import MemoryStore


class MemoryCommit:
    __slots__ = ("_store",)

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def commit(self, done: Callable[[StorageFailed | None], None], waits: bool = False) -> None:
        self._store.keep()
        done(None)

    def close(self) -> None:
        self._store.forget()
