"""LmdbEnvironment: one folder with one LMDB environment, opened, checked and identified.

`flush` decides what survives:

    commit     every commit is fsynced before it counts: a killed process and a power cut lose
               nothing that was acknowledged
    interval   fsynced periodically: a killed process loses nothing, a power cut the commits after
               the newest fsync (recovery_point.py)
    os         never fsynced before it is closed: a killed process loses nothing, a power cut may
               make the whole store unreadable, not only its newest part. LMDB overwrites pages
               that the newest commits no longer need, and without an fsync in between the disk may
               have a new root whose pages never arrived. The next start looks at all of it.

Layout: `batches` (partition id u32, last offset u64, big-endian -> batches), `timestamps`
(partition id, largest timestamp so far -> last offset), `rows` (table NUL key -> value). See
docs/internals/storage.md.
"""

from __future__ import annotations

import errno
import mmap
import os
import uuid
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import lmdb

from infrastructure.storage.errors import StorageDamaged, StorageUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.folder_lock import FolderLock
from infrastructure.storage.lmdb.identity import (
    FORMAT_ROW,
    ID_ROW,
    IN_LMDB,
    LOSSES_ROW,
    identify,
)
from infrastructure.storage.lmdb.inspection import (
    DATA_FILE,
    check_batches,
    check_pages,
    holds_a_store,
    page_problem,
)
from infrastructure.storage.lmdb.page_loader import PageLoader
from infrastructure.storage.lmdb.recovery_point import RecoveryPoint
from infrastructure.storage.lmdb.reserve import Reserve, allocate
from infrastructure.storage.sync_folder import sync_folder

if TYPE_CHECKING:
    from lmdb import _Database

#: Only address space: the file grows with what it holds.
MAP_SIZE_BYTES = 2 << 40
#: For many tasks that read at once. The first process that opens a folder decides.
MAX_READERS = 1024
_SMALLEST_MAP_BYTES = 1 << 30
_SMALLEST_GROWTH_BYTES = 1 << 20
#: Address space that is left to the rest of the broker when a map grows.
_LEFT_FOR_OTHERS_BYTES = 64 << 20

#: Of the table of readers, with 64 bytes for each.
_LOCK_BYTES = 64 << 10

_TURN_ROW = b"store\0turn"


#: Prefix, before the process id, and suffix.
SNAPSHOT_FILES = "ottla.snapshot-", ".mdb"
COMPACT_FILE = "compact.mdb"


class LmdbEnvironment:
    __slots__ = (
        "_lock", "batches", "env", "file_identity", "flush", "folder", "loader", "losses",
        "map_size_bytes", "power_cut", "read_only", "recovery_point", "reserve",
        "reserved", "rows", "store_id", "timestamps",
    )  # fmt: skip

    env: lmdb.Environment
    batches: _Database
    timestamps: _Database
    rows: _Database
    store_id: str

    layout = IN_LMDB

    def __init__(
        self,
        folder: Path,
        flush: Flush,
        map_size_bytes: int = MAP_SIZE_BYTES,
        read_only: bool = False,
        to_loop: Callable[[Callable[[], None]], object] | None = None,
    ) -> None:
        self.folder = folder
        self.flush = flush
        #: Unchanged, with the recovery point of a broker that was killed.
        self.read_only = read_only
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Before the lock's file: a folder of Kafka's is left as it is.
            holds_a_store(folder, self.layout)
            self._lock = FolderLock(folder)
        except FileExistsError as error:
            raise StorageUnusable(f"{folder} is a file, not a folder") from error
        except OSError as error:
            reason = error.strerror or error
            raise StorageUnusable(f"the data folder {folder} cannot be used: {reason}") from error
        #: What a power cut did to this store, if there was one.
        self.power_cut: str | None = None
        self.reserve = Reserve(self)
        try:
            try:
                self._open_store(map_size_bytes)
            except (lmdb.Error, OSError) as error:
                if read_only or not is_out_of_space(error) or not self.reserve.remove():
                    raise
                self._open_store(map_size_bytes)
        except BaseException as error:
            self._lock.release()
            if isinstance(error, lmdb.Error):
                raise StorageDamaged(f"the store in {folder} cannot be read: {error}") from error
            if isinstance(error, OSError):
                reason = error.strerror or error
                raise StorageUnusable(f"the store in {folder} cannot be used: {reason}") from error
            raise
        self.loader = None if to_loop is None else PageLoader(self.env, self.batches, to_loop)

    def _open_store(self, map_size_bytes: int) -> None:
        self.recovery_point = RecoveryPoint(self.folder)
        self._recover()
        if not self.read_only:
            _remove_left_over(self.folder)
            if not holds_a_store(self.folder, self.layout):
                if not self.reserve.make():
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                self._make()
            # LMDB writes it through a map: without a block on the disk that is fatal (SIGBUS).
            allocate(self.folder / "lock.mdb", 0, _LOCK_BYTES)
        self.env = self._open(self.folder, map_size_bytes)
        try:
            self.file_identity = identity_of(self.data_file)
            written_format = self._identify()
            self._begin_to_keep()
            if written_format != self.layout.format and not self.read_only:
                self._upgrade()
        except BaseException:
            self.recovery_point.close()
            self.env.close()
            raise

    @property
    def data_file(self) -> Path:
        return self.folder / DATA_FILE

    # ---- after a power cut

    def _recover(self) -> None:
        """Before LMDB opens the file: damaged pages may kill the process."""
        if not self.recovery_point.was_cut_off:
            return
        if self.recovery_point.restore():
            self.power_cut = (
                "the machine went down, or an fsync failed, while the store was open: it is as of "
                "the newest flush, and what was acknowledged after that is gone"
            )
        else:
            check_pages(self.folder)
            self.power_cut = (
                "the machine went down while the store was open with flush=os: all of it was "
                "looked at and is whole, but the newest may be missing"
            )

    def _begin_to_keep(self) -> None:
        point = self.recovery_point
        if point.was_cut_off and point.found is not None and not point.found.root:
            self._check_batches()
        with self.env.begin() as txn:
            self.losses = int(txn.get(LOSSES_ROW, b"0", db=self.rows))
        if self.power_cut is not None and not self.read_only:
            self._count_loss()
        if self.read_only or (self.flush == "commit" and point.found is None):
            return
        point.open()
        if self.flush == "os":
            point.keep_nothing()
            return
        # Commits of a killed process may be in the page cache only.
        self.keep_newest()
        if self.flush == "commit":
            point.close()
            point.forget()

    def _check_batches(self) -> None:
        check_batches(self.folder, self.env, self.batches)

    def _count_loss(self) -> None:
        """Synced before the listeners open: after the next power cut the count still rises."""
        self.losses += 1
        with self.env.begin(write=True) as txn:
            txn.put(LOSSES_ROW, b"%d" % self.losses, db=self.rows)
        self.env.sync(True)

    def keep_newest(self) -> None:
        """All that is committed is the newest recovery point."""
        point = self.recovery_point
        point.sync_and_persist(point.begin(self.env), self.sync)

    def _make(self) -> None:
        """Under another name until it is whole: a power cut leaves a store, or none."""
        new, lock = self.folder / "new.mdb", self.folder / "new.mdb-lock"
        for left_over in (new, lock):
            left_over.unlink(missing_ok=True)
        env = self._open(new, _SMALLEST_GROWTH_BYTES)
        try:
            self._create(env)
        finally:
            env.close()
        lock.unlink(missing_ok=True)
        new.rename(self.folder / DATA_FILE)
        sync_folder(self.folder)
        sync_folder(self.folder.parent)

    def _open(self, place: Path, map_size_bytes: int) -> lmdb.Environment:
        size_bytes = map_size_bytes
        while True:
            try:
                env = lmdb.Environment(
                    os.fspath(place),
                    subdir=place.is_dir(),
                    readonly=self.read_only,
                    map_size=size_bytes,
                    mode=0o700,
                    sync=self.flush == "commit",
                    metasync=self.flush == "commit",
                    # A log is read front to back, and a batch's pages lie side by side.
                    readahead=True,
                    # A writable map would make the file as large as the map.
                    writemap=False,
                    max_dbs=8,
                    max_readers=MAX_READERS,
                    # The read transaction is kept and renewed: half a microsecond a read.
                    max_spare_txns=1,
                    # Whatever the environment variable of py-lmdb says: one format.
                    lib_version=0,
                )
                break
            except lmdb.MemoryError:
                # Address space may be limited (ulimit -v, containers): take what there is.
                if size_bytes // 2 < min(_SMALLEST_MAP_BYTES, map_size_bytes):
                    raise
                size_bytes //= 2
        self.map_size_bytes = size_bytes
        self.reserved = size_bytes >= MAP_SIZE_BYTES
        # Slots of readers that were killed would keep freed pages from being used again.
        env.reader_check()
        return env

    # ---- identity

    def _identify(self) -> int:
        """Returns the format."""
        self._check_length()
        found = identify(self.env, self.folder, self.layout)
        self.store_id, self.rows = found.store_id, found.rows
        self.batches, self.timestamps = found.batches, found.timestamps
        return found.format

    def _create(self, env: lmdb.Environment) -> None:
        with env.begin(write=True) as txn:
            env.open_db(b"batches", txn=txn)
            env.open_db(b"timestamps", txn=txn)
            rows = env.open_db(b"rows", txn=txn)
            txn.put(FORMAT_ROW, b"%d" % self.layout.format, db=rows)
            txn.put(ID_ROW, uuid.uuid4().hex.encode(), db=rows)
        env.sync(True)

    def _upgrade(self) -> None:
        """In a commit before the first part: older versions refuse the store from now on.

        Like any other commit it may overwrite pages that the recovery point of a killed process
        needs, so there has to be a newer one.
        """
        with self.env.begin(write=True) as txn:
            txn.put(FORMAT_ROW, b"%d" % self.layout.format, db=self.rows)

    def _check_length(self) -> None:
        """Touching a page that the file does not reach would kill the process (SIGBUS)."""
        data_file = self.folder / DATA_FILE
        actual_bytes = data_file.stat().st_size
        if actual_bytes >= self.used_bytes:
            return
        # Pages at the end that are free may be missing rightly; only a walk over all can tell.
        problem = page_problem(data_file)
        if problem is not None:
            raise StorageDamaged(
                f"{data_file} is truncated: {actual_bytes} of {self.used_bytes} bytes: {problem}"
            )

    # ---- room

    @property
    def used_bytes(self) -> int:
        return (self.env.info()["last_pgno"] + 1) * self.page_bytes

    @property
    def page_bytes(self) -> int:
        return self.env.stat()["psize"]

    @property
    def live_bytes(self) -> int:
        """Size of the pages in use; the other ones of `used_bytes` are free."""
        with self.env.begin() as txn:
            stats = [txn.stat(db) for db in (self.batches, self.timestamps, self.rows)]
        pages = sum(s["branch_pages"] + s["leaf_pages"] + s["overflow_pages"] for s in stats)
        return pages * int(self.env.stat()["psize"])

    @property
    def free_bytes(self) -> int:
        return max(0, self.used_bytes - self.live_bytes)

    def grow(self, at_least_bytes: int = 0) -> None:
        """Needs a moment without a write transaction; no read transaction outlives its call, but
        for the recovery point's, which is renewed.

        Where the system gives no more address space, the map stays as it is: LMDB gives up the old
        one before it asks for the new one, and an environment without a map is closed for good.
        """
        more_bytes = max(self.map_size_bytes, 2 * at_least_bytes)
        while not _there_is_room_for(more_bytes + _LEFT_FOR_OTHERS_BYTES):
            more_bytes //= 2
            if more_bytes < max(at_least_bytes, _SMALLEST_GROWTH_BYTES):
                return
        with nullcontext() if self.loader is None else self.loader.lock:
            self.env.set_mapsize(self.map_size_bytes + more_bytes)
        self.map_size_bytes += more_bytes
        if self.flush == "interval":
            self.recovery_point.keep_anew(self.env, self.sync)

    def grow_in_time(self) -> None:
        """Where the map is not vast from the start: before it is full, not after."""
        if not self.reserved and self.used_bytes * 4 > self.map_size_bytes * 3:
            self.grow()

    def turn(self) -> None:
        """A tiny commit, so that the next one may use the pages that the last one freed.

        LMDB gives a page out again two commits after it was freed. On a full disk no commit that
        needs more than that succeeds, however much was deleted just before. Raises.
        """
        with self.env.begin(write=True, db=self.rows) as txn:
            txn.put(_TURN_ROW, b"%d" % txn.id())

    def sync(self) -> None:
        if not self.read_only:
            self.env.sync(True)

    def close(self, synced: bool = False) -> None:
        if self.loader is not None:
            self.loader.close()
        self.recovery_point.close()
        self.env.close()
        try:
            if synced and not self.read_only:
                self.recovery_point.forget()
        finally:
            self._lock.release()


def identity_of(file: Path) -> tuple[int, int]:
    """Another one for a file of the same name that replaced it."""
    found = file.stat()
    return found.st_dev, found.st_ino


def is_out_of_space(error: Exception) -> bool:
    """LMDB reports EIO where the disk took only a part of what was written."""
    if isinstance(error, lmdb.DiskError):
        return True
    code = error.errno if isinstance(error, OSError) else getattr(error, "code", 0)
    return code in (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def _there_is_room_for(size_bytes: int) -> bool:
    try:
        mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ).close()
    except (OSError, OverflowError):
        return False
    return True


def _remove_left_over(folder: Path) -> None:
    """Of a broker, or a compaction, that was killed."""
    for left_over in (*folder.glob("*".join(SNAPSHOT_FILES)), folder / COMPACT_FILE):
        left_over.unlink(missing_ok=True)
