"""LmdbEnvironment: one folder with one LMDB environment, opened, checked and identified.

What survives what is decided by `flush`:

    commit     every commit is fsynced before it counts: a killed process and a power cut lose
               nothing that was acknowledged
    interval   fsynced every so many milliseconds: a killed process loses nothing, a power cut may
    os         make the whole store unreadable, not only its newest part. LMDB overwrites pages
               that the newest commits no longer need, and without an fsync in between the disk may
               have a new root whose pages never arrived.

Layout: `batches` (partition id u32, last offset u64, big-endian -> batches), `timestamps`
(partition id, largest timestamp so far -> last offset), `rows` (table NUL key -> value). See
docs/storage.md.
"""

from __future__ import annotations

import mmap
import os
import uuid
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Literal

import lmdb

from infrastructure.storage.errors import (
    StorageDamaged,
    StorageForeign,
    StorageTooNew,
    StorageUnusable,
)
from infrastructure.storage.lmdb.folder_lock import FolderLock

if TYPE_CHECKING:
    from lmdb import _Database

Flush = Literal["commit", "interval", "os"]

#: Only address space: the file grows with what it holds.
MAP_SIZE_BYTES = 2 << 40
_SMALLEST_MAP_BYTES = 1 << 30
_SMALLEST_GROWTH_BYTES = 1 << 20
#: Of the address space, when a map grows: the broker has to live as well.
_LEFT_FOR_OTHERS_BYTES = 64 << 20

#: Raised when an older Ottla could not read what this one writes. 2: entries of several batches.
FORMAT = 2

#: Of `batches` and `timestamps`: keys compare as bytes, so big-endian is ascending.
KEY = Struct(">IQ")
OFFSET = Struct(">Q")

_FORMAT_ROW = b"store\0format"
_ID_ROW = b"store\0id"
_TURN_ROW = b"store\0turn"


class LmdbEnvironment:
    __slots__ = (
        "_lock", "batches", "env", "flush", "folder", "map_size_bytes", "reserved", "rows",
        "store_id", "timestamps",
    )  # fmt: skip

    batches: _Database
    timestamps: _Database
    rows: _Database
    store_id: str

    def __init__(self, folder: Path, flush: Flush, map_size_bytes: int = MAP_SIZE_BYTES) -> None:
        self.folder = folder
        self.flush = flush
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_it_is_not_kafkas(folder)
            self._lock = FolderLock(folder)
        except OSError as error:
            raise StorageUnusable(f"the data folder {folder} cannot be used: {error}") from error
        try:
            self.env = self._open(map_size_bytes)
            try:
                self._identify()
            except BaseException:
                self.env.close()
                raise
        except BaseException as error:
            self._lock.release()
            if isinstance(error, lmdb.Error):
                raise StorageDamaged(f"the store in {folder} cannot be read: {error}") from error
            raise

    def _open(self, map_size_bytes: int) -> lmdb.Environment:
        size_bytes = map_size_bytes
        while True:
            try:
                env = lmdb.Environment(
                    os.fspath(self.folder),
                    map_size=size_bytes,
                    mode=0o700,
                    sync=self.flush == "commit",
                    metasync=self.flush == "commit",
                    # A log is read front to back, and a batch's pages lie side by side.
                    readahead=True,
                    # A writable map would make the file as large as the map.
                    writemap=False,
                    max_dbs=8,
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

    def _identify(self) -> None:
        self._check_length()
        if self.env.stat()["entries"] == 0:
            self._create()
        elif b"rows" not in self.env.dbs():
            raise StorageDamaged(f"{self.folder} holds an LMDB environment that is not Ottla's")
        self.rows = self.env.open_db(b"rows", create=False)
        with self.env.begin() as txn:
            written_format = txn.get(_FORMAT_ROW, db=self.rows)
            store_id = txn.get(_ID_ROW, db=self.rows)
        if written_format is None or store_id is None or not written_format.isdigit():
            raise StorageDamaged(f"the store in {self.folder} has lost its format and id")
        if int(written_format) > FORMAT:
            raise StorageTooNew(
                f"the store in {self.folder} has format {int(written_format)}; "
                f"this version of Ottla knows formats up to {FORMAT}"
            )
        self.store_id = store_id.decode()
        self.batches = self.env.open_db(b"batches", create=False)
        self.timestamps = self.env.open_db(b"timestamps", create=False)

    def _create(self) -> None:
        with self.env.begin(write=True) as txn:
            self.env.open_db(b"batches", txn=txn)
            self.env.open_db(b"timestamps", txn=txn)
            rows = self.env.open_db(b"rows", txn=txn)
            txn.put(_FORMAT_ROW, b"%d" % FORMAT, db=rows)
            txn.put(_ID_ROW, uuid.uuid4().hex.encode(), db=rows)
        self.env.sync(True)
        # A file whose name is not on the disk is lost with all that was fsynced into it.
        for folder in (self.folder, self.folder.parent):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _check_length(self) -> None:
        """Touching a page that the file does not reach would kill the process (SIGBUS)."""
        expected_bytes = (self.env.info()["last_pgno"] + 1) * self.env.stat()["psize"]
        data_file = self.folder / "data.mdb"
        actual_bytes = data_file.stat().st_size
        if actual_bytes >= expected_bytes:
            return
        # Pages at the end that are free may be missing rightly; only a walk over all can tell.
        from lmdb.verify import VerifyError, verify

        try:
            problems = verify(os.fspath(data_file))  # type: ignore[no-untyped-call]
        except VerifyError as error:
            problems = [str(error)]
        if problems:
            raise StorageDamaged(
                f"{data_file} is cut off, {actual_bytes} bytes of {expected_bytes}: {problems[0]}"
            )

    # ---- room

    @property
    def used_bytes(self) -> int:
        return (self.env.info()["last_pgno"] + 1) * self.env.stat()["psize"]

    def grow(self, at_least_bytes: int = 0) -> None:
        """Needs a moment without a write transaction; no read transaction outlives its call.

        Where the system gives no more address space, the map stays as it is: LMDB gives up the old
        one before it asks for the new one, and an environment without a map is closed for good.
        """
        more_bytes = max(self.map_size_bytes, 2 * at_least_bytes)
        while not _there_is_room_for(more_bytes + _LEFT_FOR_OTHERS_BYTES):
            more_bytes //= 2
            if more_bytes < max(at_least_bytes, _SMALLEST_GROWTH_BYTES):
                return
        self.env.set_mapsize(self.map_size_bytes + more_bytes)
        self.map_size_bytes += more_bytes

    def grow_in_time(self) -> None:
        """Where the map is not vast from the start: before it is full, not after."""
        if not self.reserved and self.used_bytes * 4 > self.map_size_bytes * 3:
            self.grow()

    def turn(self) -> None:
        """A commit of next to nothing, so that the next one may use what the last one freed.

        LMDB gives a page out again two commits after it was freed. On a full disk no commit that
        wants more than that ever comes to pass, however much was dropped just before. Raises.
        """
        with self.env.begin(write=True, db=self.rows) as txn:
            txn.put(_TURN_ROW, b"%d" % txn.id())

    def sync(self) -> None:
        self.env.sync(True)

    def close(self) -> None:
        self.env.close()
        self._lock.release()


def _check_it_is_not_kafkas(folder: Path) -> None:
    """Whoever comes with a `server.properties` may expect that its data comes along."""
    if (folder / "data.mdb").exists():
        return
    for kafkas in ("meta.properties", "*/00000000000000000000.log", "__cluster_metadata-0"):
        if any(folder.glob(kafkas)):
            raise StorageForeign(
                f"{folder} is a data folder of Apache Kafka, which Ottla cannot read: "
                "give Ottla one of its own (--data), and copy the topics with a Kafka client"
            )


def _there_is_room_for(size_bytes: int) -> bool:
    try:
        mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ).close()
    except (OSError, OverflowError):
        return False
    return True
