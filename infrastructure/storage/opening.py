"""Opening a store by its URL: the one place that knows which engines there are.

    memory://              nothing survives the process
    lmdb:///var/lib/ottla  an absolute folder
    lmdb://ottla-data      a folder beside the one the broker was started in

Committed offsets may have a place of their own: memory://, sqlite:///var/lib/ottla/offsets.db,
postgresql://user@host/database.

An engine is imported when its URL is opened, and not before.
"""

from __future__ import annotations

import importlib.util
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from application.ports.commit import Commit
from application.ports.event_log import EventLog
from application.ports.log_store import LogStore
from application.ports.offset_repository import OffsetRepository
from application.ports.state_store import StateStore
from infrastructure.storage.errors import (
    OffsetsUnusable,
    UnknownStorage,
)
from infrastructure.storage.errors import StorageUnusable as StorageUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.offsets_home import OffsetsHome, known_database
from infrastructure.storage.repositories.offset_repository import (
    StoredOffsetRepository,
    WhenCommitted,
)

if TYPE_CHECKING:
    from infrastructure.storage.lmdb.beside import StoreBeside
    from infrastructure.storage.repositories.config_repository import StoredConfigRepository
    from infrastructure.storage.repositories.group_repository import StoredGroupRepository
    from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
    from infrastructure.storage.repositories.topic_repository import StoredTopicRepository

#: Runs a call on the event loop, from any thread.
ToLoop = Callable[[Callable[[], None]], object]

ALLOWED = "memory:// or lmdb:///path/to/folder"

POWER_LOSS_WARNINGS = {
    "interval": "flush=interval on LMDB: a killed broker loses nothing, "
    "but a power cut loses what came after the newest flush",
    "os": "flush=os on LMDB: a killed broker loses nothing, "
    "but a power cut may make the whole store unreadable",
}
MEMORY_WARNING = "memory storage: all data is lost when the broker stops"


class StorageInfo:
    """What the banner says of the store."""

    __slots__ = (
        *("flush", "kind", "live_bytes", "path", "power_cut", "size_bytes", "store_id", "warning"),
    )

    def __init__(
        self,
        kind: str,
        path: Path | None,
        size_bytes: int,
        flush: str,
        store_id: str,
        warning: str | None,
        power_cut: str | None = None,
        live_bytes: int = 0,
    ) -> None:
        self.kind = kind
        self.path = path
        self.size_bytes = size_bytes
        self.flush = flush
        self.store_id = store_id
        self.warning = warning
        #: What a power cut has meant for the store, when it was opened after one.
        self.power_cut = power_cut
        #: Of `size_bytes`, when it was opened: what is not free.
        self.live_bytes = live_bytes


@dataclass(frozen=True)
class StoreRoom:
    """How much of its file and address space a store has used."""

    map_bytes: int
    used_bytes: int
    page_bytes: int


class Storage:
    """One opened store: log, rows and commit belong together. `commit.close()` closes it."""

    __slots__ = ("commit", "info", "log", "room", "start_flush", "state")

    def __init__(
        self,
        log: LogStore,
        state: StateStore,
        commit: Commit,
        info: StorageInfo,
        start_flush: Callable[[], None] | None = None,
        room: Callable[[], StoreRoom] | None = None,
    ) -> None:
        self.log = log
        self.state = state
        self.commit = commit
        self.info = info
        #: To be called every `flush.interval.ms`; None where the engine or the policy needs none.
        self.start_flush = start_flush
        #: None where the engine has none to speak of.
        self.room = room


def open_storage(
    url: str,
    flush: Flush = "commit",
    map_size_bytes: int | None = None,
    read_only: bool = False,
    to_loop: ToLoop | None = None,
) -> Storage:
    """Raises StorageUnusable, in one line, when there is no such engine or it cannot be opened.

    `map_size_bytes` is for LMDB where less address space than usual is to be reserved. `read_only`
    leaves a store as it is; but where the machine went down while it was open with flush=interval,
    it is put back to its newest flush as for anybody, because nothing newer can be trusted. With
    `to_loop`, which runs a call on the event loop, reads of what is not in memory respond later.
    """
    scheme, separator, place = url.partition("://")
    if separator and scheme == "memory" and not place:
        return _open_memory()
    if separator and scheme == "lmdb" and place:
        return _open_lmdb(Path(place), flush, map_size_bytes, read_only, to_loop)
    raise UnknownStorage(f"storage '{url}' is not known; allowed: {ALLOWED}")


def _open_memory() -> Storage:
    from infrastructure.storage.memory.commit import MemoryCommit
    from infrastructure.storage.memory.log_store import MemoryLogStore
    from infrastructure.storage.memory.state_store import MemoryStateStore
    from infrastructure.storage.memory.store import MemoryStore

    store = MemoryStore()
    return Storage(
        MemoryLogStore(store),
        MemoryStateStore(store),
        MemoryCommit(store),
        StorageInfo("memory", None, 0, "none", uuid.uuid4().hex, MEMORY_WARNING),
    )


def _open_lmdb(
    folder: Path,
    flush: Flush,
    map_size_bytes: int | None,
    read_only: bool,
    to_loop: ToLoop | None,
) -> Storage:
    from infrastructure.storage.lmdb.commit import LmdbCommit
    from infrastructure.storage.lmdb.environment import MAP_SIZE_BYTES, LmdbEnvironment
    from infrastructure.storage.lmdb.log_store import LmdbLogStore
    from infrastructure.storage.lmdb.state_store import LmdbStateStore
    from infrastructure.storage.lmdb.write_pass import WritePass

    environment = LmdbEnvironment(
        folder, flush, map_size_bytes or MAP_SIZE_BYTES, read_only, to_loop
    )
    write_pass = WritePass(environment)
    commit = LmdbCommit(environment, write_pass)
    return Storage(
        LmdbLogStore(environment, write_pass),
        LmdbStateStore(environment, write_pass),
        commit,
        StorageInfo(
            "lmdb",
            folder,
            environment.used_bytes,
            flush,
            environment.store_id,
            POWER_LOSS_WARNINGS.get(flush),
            environment.power_cut,
            environment.live_bytes,
        ),
        commit.start_flush if flush == "interval" else None,
        lambda: StoreRoom(
            environment.map_size_bytes, environment.used_bytes, environment.page_bytes
        ),
    )


def open_offsets(
    url: str | None,
    storage: Storage,
    when_committed: WhenCommitted,
    flush: Flush,
    to_loop: ToLoop,
    unusable: Callable[[StorageUnusable], None],
    events: EventLog,
) -> OffsetRepository:
    """Where committed offsets are kept; None: beside the messages.

    Of a database that is found not to be this store's `unusable` hears later, on the loop. Raises
    StorageUnusable where that is seen at once.
    """
    home = OffsetsHome(storage.state, when_committed, events)
    if url is None:
        home.refuse_database()
        return StoredOffsetRepository(storage.state, when_committed)
    scheme = url.partition("://")[0]
    if scheme == "memory":
        from infrastructure.storage.memory.offset_repository import MemoryOffsetRepository

        home.give_up()
        return MemoryOffsetRepository()
    if scheme == "postgresql" and importlib.util.find_spec("psycopg") is None:
        raise OffsetsUnusable("PostgreSQL needs its driver: pip install 'psycopg[binary]'")
    from infrastructure.storage.sql.offset_repository import SqlOffsetRepository

    return SqlOffsetRepository(url, storage.info.store_id, flush, to_loop, unusable, events, home)


# ---- without a broker


class Contents(NamedTuple):
    """The rows of a store, for whoever looks into it without a broker."""

    topics: StoredTopicRepository
    partitions: StoredPartitionRepository
    configs: StoredConfigRepository
    groups: StoredGroupRepository
    offsets: StoredOffsetRepository
    #: Where committed offsets are, when they are not here.
    offsets_place: str | None


def contents(storage: Storage) -> Contents:
    from infrastructure.storage.repositories.config_repository import StoredConfigRepository
    from infrastructure.storage.repositories.group_repository import StoredGroupRepository
    from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
    from infrastructure.storage.repositories.topic_repository import StoredTopicRepository

    state = storage.state
    known = known_database(state)
    return Contents(
        StoredTopicRepository(storage.log, state),
        StoredPartitionRepository(storage.log, state),
        StoredConfigRepository(state),
        StoredGroupRepository(state),
        StoredOffsetRepository(state, storage.commit.commit),
        known and known.place,
    )


class Beside:
    """A store that may be a running broker's: only read, each call as of the newest commit."""

    __slots__ = ("_partitions", "_store", "log", "topics")

    def __init__(self, store: StoreBeside) -> None:
        from infrastructure.storage.repositories.partition_repository import (
            StoredPartitionRepository,
        )
        from infrastructure.storage.repositories.topic_repository import StoredTopicRepository

        self._store = store
        self.log: LogStore = store.log
        self.topics = StoredTopicRepository(store.log, store.state)
        self._partitions = StoredPartitionRepository(store.log, store.state)

    def bounds(self, partition_id: int) -> tuple[int, int]:
        """Where the log starts for who reads, and where it ends."""
        start, end = self._partitions.kept(partition_id)
        return start, max(start, end, self._store.last_offset(partition_id) + 1)

    def entries(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int
    ) -> list[tuple[int, bytes]]:
        """Batches, one or several side by side, each with the last offset that is in them."""
        return self._store.entries(partition_id, offset, end_offset, max_bytes)


@contextmanager
def opened_beside(url: str, known_whole: bool = False) -> Iterator[Beside]:
    """Raises StorageUnusable, in one line. What is `known_whole` is not looked through again."""
    from infrastructure.storage.lmdb.beside import StoreBeside

    store = StoreBeside(folder_of(url), known_whole)
    try:
        yield Beside(store)
    finally:
        store.close()


def folder_of(url: str) -> Path:
    """Raises StorageUnusable where nothing lasts, so that there is nothing to look at."""
    scheme, _, place = url.partition("://")
    if scheme != "lmdb" or not place:
        raise UnknownStorage(f"storage '{url}' has no folder; allowed: a folder, or lmdb:///path")
    return Path(place)


def there_is(url: str) -> bool:
    from infrastructure.storage.lmdb.offline import is_store

    return is_store(folder_of(url))


def last_end(url: str) -> str:
    """What a power cut could have done to the store."""
    from infrastructure.storage.lmdb.offline import last_end

    return last_end(folder_of(url))


def check_pages(url: str) -> str | None:
    from infrastructure.storage.lmdb.offline import check_pages

    return check_pages(folder_of(url))


@contextmanager
def made_whole(url: str) -> Iterator[str]:
    """The URL to make a store under that takes the place of `url` when it is whole."""
    from infrastructure.storage.lmdb.offline import made_whole

    with made_whole(folder_of(url)) as partial:
        yield f"lmdb://{partial}"


def compact(url: str) -> tuple[int, int]:
    from infrastructure.storage.lmdb.offline import compact

    return compact(folder_of(url))
