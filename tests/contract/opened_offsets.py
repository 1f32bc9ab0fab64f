"""Committed offsets in a database of any URL, and the store that records it."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue

from application.ports.offset_repository import OffsetRow, OffsetWrite
from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.offsets_home import OffsetsContext
from infrastructure.storage.repositories.offset_repository import StoredOffsetRepository
from infrastructure.storage.sql.offset_repository import SqlOffsetRepository
from tests.contract.offset_engines import (
    PATIENCE_S,
)
from tests.fakes.groups import committed
from tests.fakes.logs import FakeEventLog
from tests.fakes.offsets import offsets_home


class Opened:
    """A repository of any URL, which may fail."""

    def __init__(
        self,
        url: str,
        store_id: str = "a-store",
        flush: Flush = "commit",
        store: MemoryStore | None = None,
    ) -> None:
        #: The store of the log, which records the database.
        self.store = store or MemoryStore()
        self._loop: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.events = FakeEventLog()
        self.refusals: list[StorageUnusable] = []
        self.loaded: list[None] = []
        self.repository = SqlOffsetRepository(
            url,
            OffsetsContext(
                offsets_home(self.store, self.events),
                store_id,
                flush,
                self._loop.put,
                self.refusals.append,
                self.events,
            ),
        )
        self.rows: list[OffsetRow] = []
        self.repository.load(self.rows.extend, lambda: self.loaded.append(None))

    def until(self, true: Callable[[], object]) -> None:
        while not true():
            self._loop.get(timeout=PATIENCE_S)()

    def outcome(self, offset: int) -> StorageFailed | None:
        outcomes: list[StorageFailed | None] = []
        self.repository.apply([("g", "t", 0, committed(offset))], outcomes.append)
        self.until(lambda: outcomes)
        return outcomes[0]

    def refusal(self) -> str:
        """Returns the reason of its failure, one line."""
        self.until(lambda: self.refusals)
        self.repository.close()
        assert not self.loaded
        (refused,) = self.refusals
        assert "\n" not in str(refused)
        return str(refused)


DISCONNECT_ALL = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
)


def put_rows(store: MemoryStore, *writes: OffsetWrite) -> None:
    def when_committed(then: Callable[[StorageFailed | None], None]) -> None:
        store.keep()

    StoredOffsetRepository(MemoryStateStore(store), when_committed).apply(writes, lambda _: None)


def store_with(*rows: OffsetRow) -> MemoryStore:
    store = MemoryStore()
    put_rows(store, *rows)
    return store


def rows_in(store: MemoryStore) -> list[OffsetRow]:
    return offsets_home(store, FakeEventLog()).rows()
