"""The commit of the memory engine, which cannot fail before it is closed."""

from __future__ import annotations

from collections.abc import Callable

from domain.errors import StorageFailed
from infrastructure.storage.errors import store_closed
from infrastructure.storage.memory.store import MemoryStore


class MemoryCommit:
    __slots__ = ("_closed", "_store")

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._closed = False

    def commit(self, done: Callable[[StorageFailed | None], None], waits: bool = False) -> None:
        if self._closed:
            done(store_closed())
            return
        self._store.keep()
        done(None)

    def close(self) -> None:
        self._closed = True
        self._store.forget()
