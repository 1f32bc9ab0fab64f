"""Opening a store by its URL: the one place that knows which engines there are.

    memory://              nothing survives the process
    lmdb:///var/lib/ottla  an absolute folder
    lmdb://ottla-data      a folder beside the one the broker was started in
    files:///var/lib/ottla the same, with the logs in segments as Kafka writes them
    postgresql://user@host/database?schema=ottla

Committed offsets may have a place of their own: memory://, sqlite:///var/lib/ottla/offsets.db,
postgresql://user@host/database.

An engine is imported when its URL is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from application.ports.event_log import EventLog
from application.ports.offset_repository import OffsetRepository
from domain.configs.passwords import without_password
from domain.errors import StorageFailed
from infrastructure.storage.engine import (
    ClosedStore,
    CutLogs,
    Engine,
    Joining,
    Storage,
    StoreBeside,
    StoreFolder,
    ToLoop,
)
from infrastructure.storage.errors import StorageUnusable, UnknownStorage
from infrastructure.storage.files.engine import FILES, open_frozen, open_kafkas
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.engine import LMDB
from infrastructure.storage.memory.engine import MEMORY
from infrastructure.storage.memory.offset_repository import in_memory
from infrastructure.storage.offsets_home import OffsetsContext, OffsetsHome, known_database
from infrastructure.storage.postgresql.engine import POSTGRESQL
from infrastructure.storage.repositories.offset_repository import (
    StoredOffsetRepository,
    WhenCommitted,
)
from infrastructure.storage.sql.engine import in_postgresql, in_sqlite

if TYPE_CHECKING:
    from domain.topics.topic import Topic
    from infrastructure.storage.repositories.acl_repository import StoredAclRepository
    from infrastructure.storage.repositories.cluster_repository import StoredClusterRepository
    from infrastructure.storage.repositories.config_repository import StoredConfigRepository
    from infrastructure.storage.repositories.group_repository import StoredGroupRepository
    from infrastructure.storage.repositories.import_repository import StoredImportRepository
    from infrastructure.storage.repositories.kafka_folder_row import KafkaFolderRow
    from infrastructure.storage.repositories.numbered_offsets import NumberedOffsets
    from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
    from infrastructure.storage.repositories.quota_repository import StoredQuotaRepository
    from infrastructure.storage.repositories.registration_repository import (
        StoredRegistrationRepository,
    )
    from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
    from infrastructure.storage.repositories.transaction_index import StoredTransactionIndex
    from infrastructure.storage.repositories.transaction_repository import (
        StoredTransactionRepository,
    )
    from infrastructure.storage.repositories.user_repository import StoredUserRepository

#: By scheme.
ENGINES = {engine.scheme: engine for engine in (MEMORY, LMDB, FILES, POSTGRESQL)}
#: By scheme: what opens committed offsets that have a place of their own.
OFFSETS: dict[str, Callable[[str, OffsetsContext], OffsetRepository]] = {
    "memory": in_memory,
    "sqlite": in_sqlite,
    "postgresql": in_postgresql,
}


#: Partitions in a commit.
_SETTLED_AT_ONCE = 100


def engine_of(url: str) -> tuple[Engine, str]:
    """The engine, and the URL without its scheme. Raises UnknownStorage."""
    scheme, separator, place = url.partition("://")
    engine = ENGINES.get(scheme)
    if engine is None or not separator or bool(place) != bool(engine.example):
        allowed = " or ".join(f"{each.scheme}://{each.example}" for each in ENGINES.values())
        raise UnknownStorage(f"storage '{without_password(url)}' is not known; allowed: {allowed}")
    return engine, place


def open_storage(
    url: str,
    flush: Flush = "commit",
    map_size_bytes: int | None = None,
    read_only: bool = False,
    to_loop: ToLoop | None = None,
    rows: Path | None = None,
    joining: Joining | None = None,
) -> Storage:
    """Raises StorageUnusable, in one line, when there is no such engine or it cannot be opened.

    `map_size_bytes` makes LMDB reserve less address space. `read_only` leaves a store unchanged,
    except after a power cut with flush=interval: then it is put back to its newest flush, because
    nothing newer can be trusted. With `to_loop` reads of data that is not in memory respond later;
    without, they wait for the disk. With `rows`, the folder of a copy of its rows, a store of
    files:// stays as it is. With `joining` and `to_loop` the process is one of the brokers of a
    store that several can share.
    """
    if rows is not None:
        return open_frozen(Path(engine_of(url)[1]), rows, to_loop)
    engine, place = engine_of(url)
    if engine.join is not None and joining is not None and to_loop is not None:
        return engine.join(place, flush, to_loop, joining)
    storage = engine.open(place, flush, map_size_bytes, read_only, to_loop)
    if storage.cut_logs is not None:
        try:
            _settle(storage, storage.cut_logs, read_only)
        except BaseException:
            storage.commit.close()
            raise
    return storage


def _settle(storage: Storage, cut_logs: CutLogs, read_only: bool) -> None:
    """A killed process goes on at its next start."""
    marked = list(cut_logs.edges())
    for at in range(0, len(marked), _SETTLED_AT_ONCE):
        from infrastructure.storage.repositories.cut_partition import bring_in_line

        if read_only:
            raise StorageUnusable(
                f"the store in {storage.info.path} has logs that a power cut has made shorter: "
                "start a broker on it first"
            )
        for partition_id, edges in marked[at : at + _SETTLED_AT_ONCE]:
            bring_in_line(storage.log, storage.state, partition_id, *edges)
            cut_logs.settled(partition_id)
        failures: list[StorageFailed | None] = []
        storage.commit.commit(failures.append)
        if failures[0] is not None:
            raise StorageUnusable(failures[0].message) from failures[0]


def open_in_kafkas_folder(folder: Path) -> Storage:
    """A store of files:// that is made in the log folder of a stopped Kafka."""
    return open_kafkas(folder)


def open_offsets(
    url: str | None,
    storage: Storage,
    when_committed: WhenCommitted,
    flush: Flush,
    to_loop: ToLoop,
    unusable: Callable[[StorageUnusable], None],
    events: EventLog,
) -> OffsetRepository:
    """Opens the place of committed offsets; None: the store itself.

    Raises StorageUnusable, or calls `unusable` later, on the loop, if a database turns out to
    belong to another store.
    """
    home = OffsetsHome(storage.state, when_committed, events)
    if url is None:
        home.refuse_database()
        return StoredOffsetRepository(storage.state, when_committed)
    context = OffsetsContext(home, storage.info.store_id, flush, to_loop, unusable, events)
    return OFFSETS[url.partition("://")[0]](url, context)


# ---- without a broker


class Contents(NamedTuple):
    """The rows of a store, for tools that open it without a broker."""

    topics: StoredTopicRepository
    partitions: StoredPartitionRepository
    transaction_index: StoredTransactionIndex
    configs: StoredConfigRepository
    groups: StoredGroupRepository
    offsets: StoredOffsetRepository
    #: The database of committed offsets, if they are not in the store.
    offsets_place: str | None
    users: StoredUserRepository
    acls: StoredAclRepository
    quotas: StoredQuotaRepository
    cluster: StoredClusterRepository
    transactions: StoredTransactionRepository
    pending_offsets: NumberedOffsets
    imports: StoredImportRepository
    registrations: StoredRegistrationRepository
    kafka_folder: KafkaFolderRow


def contents(storage: Storage) -> Contents:
    from infrastructure.storage.repositories.acl_repository import StoredAclRepository
    from infrastructure.storage.repositories.cluster_repository import StoredClusterRepository
    from infrastructure.storage.repositories.config_repository import StoredConfigRepository
    from infrastructure.storage.repositories.group_repository import StoredGroupRepository
    from infrastructure.storage.repositories.import_repository import StoredImportRepository
    from infrastructure.storage.repositories.kafka_folder_row import KafkaFolderRow
    from infrastructure.storage.repositories.numbered_offsets import (
        PENDING_OFFSETS,
        NumberedOffsets,
    )
    from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
    from infrastructure.storage.repositories.quota_repository import StoredQuotaRepository
    from infrastructure.storage.repositories.registration_repository import (
        StoredRegistrationRepository,
    )
    from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
    from infrastructure.storage.repositories.transaction_index import StoredTransactionIndex
    from infrastructure.storage.repositories.transaction_repository import (
        StoredTransactionRepository,
    )
    from infrastructure.storage.repositories.user_repository import StoredUserRepository

    state = storage.state
    known = known_database(state)
    return Contents(
        StoredTopicRepository(storage.log, state),
        StoredPartitionRepository(storage.log, state),
        StoredTransactionIndex(state),
        StoredConfigRepository(state),
        StoredGroupRepository(state),
        StoredOffsetRepository(state, storage.commit.commit),
        known and known.place,
        StoredUserRepository(state),
        StoredAclRepository(state),
        StoredQuotaRepository(state),
        StoredClusterRepository(state),
        StoredTransactionRepository(state),
        NumberedOffsets(state, PENDING_OFFSETS),
        StoredImportRepository(state),
        StoredRegistrationRepository(state),
        KafkaFolderRow(state),
    )


class _Topics(Protocol):
    def load(self) -> list[Topic]: ...


class _Log(Protocol):
    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        """See LogStore.headers."""
        ...

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        """See LogStore.at_timestamp."""
        ...


class Beside(Protocol):
    """A store that is only read, beside its broker, or the folder of a stopped Kafka."""

    @property
    def log(self) -> _Log: ...

    @property
    def topics(self) -> _Topics: ...

    def bounds(self, partition_id: int) -> tuple[int, int]:
        """Log start offset and log end offset."""
        ...

    def entries(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int
    ) -> list[tuple[int, bytes]]:
        """Entries of one or several batches, each with its last offset."""
        ...

    def close(self) -> None: ...


class _OttlaBeside:
    """A store that a broker may have open: read-only, each call as of the newest commit."""

    __slots__ = ("_partitions", "_store", "log", "topics")

    def __init__(self, store: StoreBeside) -> None:
        from infrastructure.storage.repositories.partition_repository import (
            StoredPartitionRepository,
        )
        from infrastructure.storage.repositories.topic_repository import StoredTopicRepository

        self._store = store
        self.log = store.log
        try:
            self.topics = StoredTopicRepository(store.log, store.state)
            self._partitions = StoredPartitionRepository(store.log, store.state)
        except BaseException:
            store.close()
            raise

    def bounds(self, partition_id: int) -> tuple[int, int]:
        """Log start offset and log end offset."""
        start, end = self._partitions.snapshot_bounds(partition_id)
        return start, max(start, end, self._store.last_offset(partition_id) + 1)

    def entries(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int
    ) -> list[tuple[int, bytes]]:
        """Entries of one or several batches, each with its last offset."""
        return self._store.entries(partition_id, offset, end_offset, max_bytes)

    def close(self) -> None:
        self._store.close()


#: The scheme of a folder of Kafka's, which is read as it is.
_OF_KAFKA = "kafka"


@contextmanager
def opened_beside(url: str, known_whole: bool = False) -> Iterator[Beside]:
    """A URL, as `read_url` returns it. Raises StorageUnusable, in one line.

    A store that is `known_whole` is not checked.
    """
    scheme, _, place = url.partition("://")
    store: Beside
    if scheme == _OF_KAFKA:
        from infrastructure.storage.kafka.beside import KafkaBeside

        store = KafkaBeside(Path(place))
    else:
        store = _OttlaBeside(folder_of(url).beside(known_whole))
    try:
        yield store
    finally:
        store.close()


def read_url(store: str) -> str:
    """Of what `opened_beside` reads: a folder of Kafka's, too. Raises UnknownStorage."""
    scheme, separator, place = store.partition("://")
    folder = Path(place if separator else store).absolute()
    if scheme == _OF_KAFKA if separator else _is_kafkas_alone(folder):
        return f"{_OF_KAFKA}://{folder}"
    return folder_of(store).url


def _is_kafkas_alone(folder: Path) -> bool:
    """Without a store of Ottla in it."""
    from infrastructure.kafka_folder.files import is_log_folder
    from infrastructure.storage.lmdb.inspection import DATA_FILE

    return is_log_folder(folder) and not (folder / DATA_FILE).exists()


def store_of(store: str) -> ClosedStore:
    """A URL, or a folder as `folder_of` takes it. Raises StorageUnusable."""
    scheme, separator, place = store.partition("://")
    engine = ENGINES.get(scheme)
    if separator and place and engine is not None and engine.database is not None:
        return engine.database(place)
    return folder_of(store)


def folder_of(store: str) -> StoreFolder:
    """`store` is a URL, or a folder, which is opened as what its store is; a new one is of lmdb://.

    Raises UnknownStorage for memory:// and databases.
    """
    scheme, separator, place = store.partition("://")
    if not separator:
        scheme, place = _scheme_in(Path(store)), store
    engine = ENGINES.get(scheme)
    if engine is not None and engine.database is not None:
        raise UnknownStorage(
            f"storage '{without_password(store)}' is in a database, and not in a folder"
        )
    if engine is None or engine.folder is None or not place:
        allowed = " or ".join(
            f"{each.scheme}://{each.example}" for each in ENGINES.values() if each.folder
        )
        raise UnknownStorage(
            f"storage '{without_password(store)}' has no folder; allowed: a folder, or {allowed}"
        )
    return engine.folder(Path(place).absolute())


def _scheme_in(folder: Path) -> str:
    from infrastructure.storage.lmdb.stored_layout import layout_in

    layout = layout_in(folder)
    return LMDB.scheme if layout is None else layout.scheme
