"""The engines under contract. A new engine is a row of ENGINES."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from domain.errors import StorageFailed
from domain.messages.batch import RecordBatch, next_offset
from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage, ToLoop
from infrastructure.storage.lmdb.log_store import LmdbLogStore
from infrastructure.storage.postgresql.tails import TAIL_BYTES
from tests.contract.postgres_server import running_postgres
from tests.fakes.callbacks import Callbacks
from tests.fakes.memory_bucket import memory_bucket
from tests.fakes.patience import patiently

T = TypeVar("T")

#: Tables of a commit or two.
TINY_TAIL_BYTES = 200
#: Commits of two batches or more.
LARGE_COMMIT_BYTES = 120


class Engine:
    def __init__(
        self,
        open_in: Callable[[Path], Storage],
        persistent: bool = False,
        open_small: Callable[[Path], Storage] | None = None,
        has_snapshots: bool = True,
    ) -> None:
        self.open_in = open_in
        #: Committed data survives closing and opening.
        self.persistent = persistent
        #: Opens a store that is too small for 4 MiB; None if a commit cannot fail.
        self.open_small = open_small
        self.has_snapshots = has_snapshots


class PatientLog:
    """The log of an engine whose reads respond later: each is repeated until it is in memory."""

    def __init__(self, log: LmdbLogStore, callbacks: SimpleQueue[Callable[[], None]]) -> None:
        self._log = log
        self._callbacks = callbacks
        self.append, self.replace = log.append, log.replace
        self.name, self.copy_before = log.name, log.copy_before
        self.trim, self.drop = log.trim, log.drop
        self.at_timestamp, self.partition_ids = log.at_timestamp, log.partition_ids

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        arguments = (partition_id, offset, end_offset, max_bytes, whole_first)
        return self._patiently(lambda: self._log.read(*arguments))

    def read_to(
        self,
        partition_id: int,
        offset: int,
        end_offset: int,
        max_bytes: int,
        whole_first: bool,
        loads: bool = True,
    ) -> tuple[bytes, int]:
        arguments = (partition_id, offset, end_offset, max_bytes, whole_first, loads)
        return self._patiently(lambda: self._log.read_to(*arguments))

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        found: list[bytes] = []
        while len(found) < limit:
            arguments = (partition_id, offset, limit - len(found), waits)
            more = self._patiently(partial(self._log.headers, *arguments))
            if not more:
                break
            found += more
            offset = RecordBatch(memoryview(more[-1])).last_offset + 1
        return found

    def _patiently(self, read: Callable[[], T]) -> T:
        # Nothing counts as being in memory: all reads go through the thread.
        self._log._memory_from.clear()
        return patiently(read, self._callbacks, attempts=10)


def _patient_lmdb(folder: Path) -> Storage:
    callbacks: SimpleQueue[Callable[[], None]] = SimpleQueue()
    storage = open_storage(f"lmdb://{folder}/store", "os", to_loop=callbacks.put)
    assert isinstance(storage.log, LmdbLogStore)
    storage.log = PatientLog(storage.log, callbacks)
    return storage


def _small_lmdb(folder: Path) -> Storage:
    return open_storage(f"lmdb://{folder}/store", "os", map_size_bytes=1 << 20)


def in_postgres(
    folder: Path,
    to_loop: ToLoop | None = None,
    tail_bytes: int = TAIL_BYTES,
    has_objects: bool = False,
) -> Storage:
    """Each folder has a schema of its own."""
    from infrastructure.storage.postgresql.opening import opened

    schema = f"s{hashlib.sha256(bytes(folder)).hexdigest()[:20]}"
    place = f"postgres@/postgres?host={running_postgres().folder}&schema={schema}"
    if has_objects:
        place += f"&objects=s3://bucket/{schema}&local.bytes=0&delete.delay.ms=0&commit.to=objects"
    storage = opened(place, "commit", to_loop, tail_bytes=tail_bytes, bucket_at=memory_bucket)
    if has_objects:
        storage.commit._object_commits.large_bytes = LARGE_COMMIT_BYTES
    return storage


class LaterPostgres:
    """Log and commit of an engine that responds later to all: each call is repeated, or waited for.

    After each second commit nothing is in memory.
    """

    def __init__(self, storage: Storage, callbacks: SimpleQueue[Callable[[], None]]) -> None:
        self._forgets = False
        self._log, self._commit, self._callbacks = storage.log, storage.commit, callbacks
        self.append, self.name = storage.log.append, storage.log.name
        self.partition_ids, self.close = storage.log.partition_ids, storage.commit.close
        for name in (
            *("read", "read_to", "headers", "at_timestamp"),
            *("copy_before", "replace", "trim", "drop"),
        ):
            setattr(self, name, partial(self._patiently, getattr(storage.log, name)))

    def commit(self, done: Callable[[StorageFailed | None], None], waits: bool = False) -> None:
        outcomes: list[StorageFailed | None] = []
        self._commit.commit(outcomes.append, waits)
        while not outcomes or self._commit.is_keeping_up:
            self._callbacks.get(timeout=10)()
        self._forgets = not self._forgets
        if self._forgets:
            self._log._contents.cache.clear()
        done(outcomes[0])

    def _patiently(self, call: Callable[..., T], *arguments: object, **named: object) -> T:
        return patiently(partial(call, *arguments, **named), self._callbacks, attempts=1000)


def later_postgres(
    folder: Path, tail_bytes: int = TAIL_BYTES, has_objects: bool = False
) -> Storage:
    callbacks = Callbacks()
    storage = in_postgres(folder, callbacks.put, tail_bytes, has_objects)
    assert storage.send_on_loop is not None
    storage.send_on_loop(callbacks)
    storage.log = storage.commit = LaterPostgres(storage, callbacks)
    return storage


ENGINES = {
    "memory": Engine(lambda folder: open_storage("memory://")),
    "lmdb-commit": Engine(
        lambda folder: open_storage(f"lmdb://{folder}/store", "commit"),
        persistent=True,
        open_small=_small_lmdb,
    ),
    "lmdb-interval": Engine(
        lambda folder: open_storage(f"lmdb://{folder}/store", "interval"), persistent=True
    ),
    "lmdb-later": Engine(_patient_lmdb, persistent=True),
    "files-commit": Engine(
        lambda folder: open_storage(f"files://{folder}/store", "commit"), persistent=True
    ),
    "files-interval": Engine(
        lambda folder: open_storage(f"files://{folder}/store", "interval"), persistent=True
    ),
    "files-os": Engine(
        lambda folder: open_storage(f"files://{folder}/store", "os"), persistent=True
    ),
    "postgresql": Engine(later_postgres, persistent=True, has_snapshots=False),
    "postgresql-tails": Engine(
        partial(later_postgres, tail_bytes=TINY_TAIL_BYTES), persistent=True, has_snapshots=False
    ),
    "postgresql-objects": Engine(
        partial(later_postgres, tail_bytes=TINY_TAIL_BYTES, has_objects=True),
        persistent=True,
        has_snapshots=False,
    ),
    "lmdb-os": Engine(lambda folder: open_storage(f"lmdb://{folder}/store", "os"), persistent=True),
}


class OpenStore:
    """A store of an engine, with helpers for tests."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.folder = folder
        self._use(engine.open_in(folder))

    def _use(self, storage: Storage) -> None:
        self.storage = storage
        self.log = storage.log
        self.state = storage.state

    def commit(self) -> StorageFailed | None:
        outcomes: list[StorageFailed | None] = []
        self.storage.commit.commit(outcomes.append)
        assert len(outcomes) == 1
        return outcomes[0]

    def keep(self) -> None:
        assert self.commit() is None

    def everything(self, partition_id: int) -> bytes:
        read = piece = self.log.read(partition_id, 0, 1 << 62, 1 << 62, True)
        while piece:
            piece = self.log.read(partition_id, next_offset(read), 1 << 62, 1 << 62, True)
            read += piece
        return read

    def reopen(self) -> None:
        self.storage.commit.close()
        self._use(self.engine.open_in(self.folder))

    def close(self) -> None:
        self.storage.commit.close()
