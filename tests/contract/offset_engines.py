"""The engines for committed offsets. A new engine is a row of OFFSET_ENGINES."""

from __future__ import annotations

import sqlite3
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

from application.ports.offset_repository import OffsetRepository, OffsetRow, OffsetWrite
from domain.errors import StorageFailed
from infrastructure.opening import open_storage
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.memory.offset_repository import MemoryOffsetRepository
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.offsets_home import OffsetsContext
from infrastructure.storage.repositories.offset_repository import StoredOffsetRepository
from infrastructure.storage.sql.offset_repository import SqlOffsetRepository
from tests.contract.postgres_server import running_postgres
from tests.fakes.logs import FakeEventLog
from tests.fakes.offsets import offsets_home

Done = Callable[[StorageFailed | None], None]

#: A write that fails in a broken engine.
REFUSED = 666
PATIENCE_S = 20
#: Table and key.
OFFSETS_PLACE = ("cluster", b"offsets")


class OffsetEngine(ABC):
    """A repository of an engine in a folder, and its loop."""

    #: Rows survive closing and opening.
    lasting = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repository = self.open()

    @abstractmethod
    def open(self) -> OffsetRepository: ...

    @abstractmethod
    def settle(self, until: Callable[[], bool]) -> None:
        """Runs the loop until all writes are done."""

    def close(self) -> None:
        self.repository.close()

    def reopen(self) -> None:
        self.close()
        self.repository = self.open()

    def break_next(self) -> None:
        """The next writes fail, at least those of REFUSED."""
        raise NotImplementedError

    def mend(self) -> None:  # noqa: B027  # some break only once
        """Later writes succeed."""

    # ---- helpers

    def rows(self) -> list[OffsetRow]:
        """All rows, in order; only of a repository that was just opened."""
        found: list[OffsetRow] = []
        done: list[None] = []
        self.repository.load(found.extend, lambda: done.append(None))
        self.settle(lambda: bool(done))
        assert len(done) == 1
        return sorted(found, key=lambda row: row[:3])

    def load(self) -> None:
        self.rows()

    def keep(self, *writes: OffsetWrite) -> None:
        assert self.outcome(*writes) is None

    def outcome(self, *writes: OffsetWrite) -> StorageFailed | None:
        (outcome,) = self.outcomes(list(writes))
        return outcome

    def outcomes(self, *applied: Sequence[OffsetWrite]) -> list[StorageFailed | None]:
        """Applies writes in one pass."""
        results: list[tuple[int, StorageFailed | None]] = []
        for place, writes in enumerate(applied):
            self.repository.apply(
                writes, lambda failure, place=place: results.append((place, failure))
            )
        self.settle(lambda: len(results) >= len(applied))
        assert [place for place, _ in results] == list(range(len(applied)))
        return [failure for _, failure in results]


class MemoryOffsets(OffsetEngine):
    lasting = False

    def open(self) -> OffsetRepository:
        return MemoryOffsetRepository(lambda done: done(None))

    def settle(self, until: Callable[[], bool]) -> None:
        assert until()


class StoredOffsets(OffsetEngine):
    """In the store of the log; commits run where the loop would run them."""

    url = "memory://"
    map_size_bytes: int | None = None

    def open(self) -> OffsetRepository:
        self._storage = open_storage(
            self.url.format(folder=self.folder), "commit", self.map_size_bytes
        )
        self._waiting: list[Done] = []
        return StoredOffsetRepository(self._storage.state, self._waiting.append)

    def settle(self, until: Callable[[], bool]) -> None:
        if self._waiting:
            waiting, self._waiting[:] = list(self._waiting), []
            self._storage.commit.commit(
                lambda failure: [done(failure) for done in waiting] and None
            )
        assert until()

    def close(self) -> None:
        super().close()
        self._storage.commit.close()


class MemoryStoreOffsets(StoredOffsets):
    lasting = False


class LmdbOffsets(StoredOffsets):
    url = "lmdb://{folder}/store"
    map_size_bytes = 1 << 20

    def break_next(self) -> None:
        """Stages more than the map can hold in the same commit."""
        self._storage.state.put("too much", b"k", bytes(4 << 20))


class SqlOffsets(OffsetEngine):
    """A database thread that calls a loop which the tests run."""

    flush: Flush = "commit"

    def __init__(self, folder: Path) -> None:
        #: The store of the log, which records the database.
        self.store = MemoryStore()
        self._known = folder / "known.json"
        if self._known.exists():
            MemoryStateStore(self.store).put(*OFFSETS_PLACE, self._known.read_bytes())
            self.store.keep()
        super().__init__(folder)

    def _remember(self) -> None:
        known = MemoryStateStore(self.store).get(*OFFSETS_PLACE)
        assert known is not None
        self._known.write_bytes(known)

    @abstractmethod
    def url(self) -> str: ...

    def open(self) -> OffsetRepository:
        self.events = FakeEventLog()
        self.unusable: list[StorageUnusable] = []
        self._loop: SimpleQueue[Callable[[], None]] = SimpleQueue()
        return SqlOffsetRepository(
            self.url(),
            OffsetsContext(
                offsets_home(self.store, self.events, self._remember),
                "a-store",
                self.flush,
                self._loop.put,
                self.unusable.append,
                self.events,
            ),
        )

    def settle(self, until: Callable[[], bool]) -> None:
        while not until():
            self._loop.get(timeout=PATIENCE_S)()
            assert not self.unusable, self.unusable[0]


class SqliteOffsets(SqlOffsets):
    def file(self) -> Path:
        return self.folder / "offsets.db"

    def url(self) -> str:
        return f"sqlite://{self.file()}"

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(self.file())) as connection, connection:
            return connection.execute(statement).fetchall()

    def break_next(self) -> None:
        self.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON ottla_offsets "
            f"WHEN NEW.partition = {REFUSED} BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )

    def mend(self) -> None:
        self.execute("DROP TRIGGER refuse")


class PostgresOffsets(SqlOffsets):
    """In its own schema of the server that this process starts."""

    def __init__(self, folder: Path) -> None:
        self.server = running_postgres()
        self.schema = f"s{uuid.uuid4().hex}"
        self.server.execute(f"CREATE SCHEMA {self.schema}")
        super().__init__(folder)

    def url(self) -> str:
        return self.server.url(self.schema)

    def break_next(self) -> None:
        self.server.execute(
            f"SET search_path = {self.schema}; CREATE FUNCTION refuse() RETURNS trigger AS "
            "$$ BEGIN RAISE EXCEPTION 'refused'; END $$ LANGUAGE plpgsql; "
            "CREATE TRIGGER refuse BEFORE INSERT ON ottla_offsets FOR EACH ROW "
            f"WHEN (NEW.partition = {REFUSED}) EXECUTE FUNCTION refuse()"
        )

    def mend(self) -> None:
        self.server.execute(f"DROP TRIGGER refuse ON {self.schema}.ottla_offsets")


OFFSET_ENGINES: dict[str, type[OffsetEngine]] = {
    "memory": MemoryOffsets,
    "memory-store": MemoryStoreOffsets,
    "lmdb": LmdbOffsets,
    "sqlite": SqliteOffsets,
    "postgres": PostgresOffsets,
}
