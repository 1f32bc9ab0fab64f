"""A snapshot of a memory store. Batches and rows are shared, because they never change."""

from __future__ import annotations

from collections.abc import Callable

from infrastructure.storage.memory.store import MemoryStore


class MemorySnapshot:
    """Implements infrastructure.storage.engine.StoreSnapshot."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._copy = MemoryStore()
        self._copy.take_over(store)

    def restore(self, stage: Callable[[], object] = lambda: None) -> None:
        self._store.take_over(self._copy)
        stage()
        self._store.keep()

    def delete(self) -> None:
        self._copy = MemoryStore()
