"""The engine of `memory://`: nothing survives the process."""

from __future__ import annotations

import uuid

from infrastructure.storage.engine import Engine, Storage, StorageInfo, StoreSnapshot, ToLoop
from infrastructure.storage.flush import Flush


def _open(
    place: str,
    flush: Flush,
    map_size_bytes: int | None,
    read_only: bool,
    to_loop: ToLoop | None,
) -> Storage:
    from infrastructure.storage.memory.commit import MemoryCommit
    from infrastructure.storage.memory.log_store import MemoryLogStore
    from infrastructure.storage.memory.state_store import MemoryStateStore
    from infrastructure.storage.memory.store import MemoryStore

    store = MemoryStore()

    def take_snapshot() -> StoreSnapshot:
        from infrastructure.storage.memory.snapshot import MemorySnapshot

        return MemorySnapshot(store)

    return Storage(
        MemoryLogStore(store),
        MemoryStateStore(store),
        MemoryCommit(store),
        StorageInfo("memory", None, 0, "none", uuid.uuid4().hex),
        take_snapshot=take_snapshot,
    )


MEMORY = Engine("memory", "", _open)
