"""A store that is read beside its broker, whether that runs or not.

Nothing in the folder changes but LMDB's table of readers. Writers are excluded only if that table
cannot be written. Every call sees the newest commit, in a transaction that ends with the call.
"""

from __future__ import annotations

from pathlib import Path
from struct import error as StructError
from typing import cast

import lmdb

from application.ports.log_store import LogStore
from infrastructure.storage.errors import StorageDamaged, StorageInUse, StorageUnusable
from infrastructure.storage.lmdb.commit import WritePass, storage_failed
from infrastructure.storage.lmdb.entries import StagedEntries
from infrastructure.storage.lmdb.environment import MAP_SIZE_BYTES, MAX_READERS, LmdbEnvironment
from infrastructure.storage.lmdb.folder_lock import NobodyWrites
from infrastructure.storage.lmdb.identity import IN_LMDB, Layout, identify
from infrastructure.storage.lmdb.inspection import check_pages, holds_a_store, page_problem
from infrastructure.storage.lmdb.keys import KEY
from infrastructure.storage.lmdb.log_store import LmdbLogStore
from infrastructure.storage.lmdb.page_loader import PageLoader
from infrastructure.storage.lmdb.parts import further_bytes, next_entry, parts_at
from infrastructure.storage.lmdb.recovery_point import RecoveryPoint
from infrastructure.storage.lmdb.state_store import LmdbStateStore

_NO_OFFSET = -1
#: LMDB's text for an empty table.
_NO_READERS_ARE_KEPT = "(no reader locks)\n"
_ABOVE_ALL_OFFSETS = (1 << 64) - 1
_UNREADABLE = (lmdb.Error, StructError)


class StoreBeside:
    """Raises StorageUnusable, in one line. A store that is `known_whole` is not checked."""

    __slots__ = (
        *("batches", "env", "folder", "log", "nobody_writes", "rows", "state", "store_id"),
        "timestamps",
    )

    loader: PageLoader | None = None
    layout = IN_LMDB

    def __init__(self, folder: Path, known_whole: bool = False) -> None:
        self.folder = folder
        self.nobody_writes: NobodyWrites | None = None
        try:
            _check_there_is_one(folder, self.layout)
            if not known_whole:
                _check_last_end(folder)
            self.env = open_environment(str(folder))
        except lmdb.Error as error:
            raise _told(folder, error) from error
        except OSError as error:
            reason = error.strerror or error
            raise StorageUnusable(f"the store in {folder} cannot be read: {reason}") from error
        try:
            self._begin(known_whole)
        except BaseException as error:
            self.close()
            if isinstance(error, lmdb.Error):
                raise _told(folder, error) from error
            raise

    def _begin(self, known_whole: bool) -> None:
        if self.env.readers() == _NO_READERS_ARE_KEPT:
            self._keep_writers_out()
        # Slots of killed readers would prevent the broker from reusing freed pages.
        self.env.reader_check()
        if not known_whole:
            self._check_length()
        found = identify(self.env, self.folder, self.layout)
        self.store_id, self.rows = found.store_id, found.rows
        self.batches, self.timestamps = found.batches, found.timestamps
        # A pass fails when it begins: LMDB refuses to write in such an environment.
        environment = cast(LmdbEnvironment, self)
        self.log, write_pass = self._opened_log(environment)
        self.state = LmdbStateStore(environment, write_pass)

    def _opened_log(self, environment: LmdbEnvironment) -> tuple[LogStore, WritePass]:
        entries = StagedEntries(self.batches)
        write_pass = WritePass(environment, entries)
        return LmdbLogStore(self, write_pass, entries), write_pass

    def _keep_writers_out(self) -> None:
        """On a read-only file system LMDB registers no readers, silently: a broker would reuse
        pages that they read."""
        try:
            self.nobody_writes = NobodyWrites(self.folder)
        except StorageInUse as error:
            raise StorageInUse(
                f"{error}, and cannot be read beside it where lock.mdb cannot be written"
            ) from error

    def _check_length(self) -> None:
        """Touching a page that the file does not reach would kill the process (SIGBUS)."""
        data_file = self.folder / "data.mdb"
        with self.env.begin():  # so that the checked pages are not reused meanwhile
            used_bytes = (self.env.info()["last_pgno"] + 1) * self.env.stat()["psize"]
            actual_bytes = data_file.stat().st_size
            problem = page_problem(data_file) if actual_bytes < used_bytes else None
        if problem is not None:
            raise StorageDamaged(
                f"{data_file} is truncated: {actual_bytes} of {used_bytes} bytes: {problem}"
            )

    def entries(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int
    ) -> list[tuple[int, bytes]]:
        """The entries from the one that holds `offset` on, each with the last offset in it.

        As many as begin below `end_offset` and fit, and at least one if there is one. Where they
        end is what their keys say: an entry that is damaged does not hide those behind it.
        """
        found_entries: list[tuple[int, bytes]] = []
        size_bytes = 0
        try:
            with self.env.begin(buffers=True) as txn:
                cursor = txn.cursor(self.batches)
                found = cursor.set_range(KEY.pack(partition_id, offset))
                while found:
                    found_id, last_offset = KEY.unpack(cursor.key())
                    if found_id != partition_id:
                        break
                    first = cursor.value()
                    size_bytes += len(first) + further_bytes(first)
                    if size_bytes > max_bytes and found_entries:
                        break
                    found_entries.append((last_offset, b"".join(parts_at(cursor))))
                    # No step further than needed: merely standing on an entry reads its first page.
                    if last_offset + 1 >= end_offset or size_bytes >= max_bytes:
                        break
                    found = next_entry(cursor, first, partition_id, last_offset)
        except _UNREADABLE as error:
            raise storage_failed("could not read", error) from error
        return found_entries

    def last_offset(self, partition_id: int) -> int:
        """Of the newest entry, or -1."""
        try:
            with self.env.begin(buffers=True) as txn:
                cursor = txn.cursor(self.batches)
                after = cursor.set_range(KEY.pack(partition_id, _ABOVE_ALL_OFFSETS))
                if not (cursor.prev() if after else cursor.last()):
                    return _NO_OFFSET
                found_id, last_offset = KEY.unpack_from(cursor.key())
        except _UNREADABLE as error:
            raise storage_failed("could not read", error) from error
        return int(last_offset) if found_id == partition_id else _NO_OFFSET

    def close(self) -> None:
        self.env.close()
        if self.nobody_writes is not None:
            self.nobody_writes.release()


def copy_rows(folder: Path, to: Path) -> None:
    """Of a store that nobody writes, without a change in its folder. Raises StorageDamaged."""
    try:
        env = lmdb.Environment(
            str(folder), readonly=True, lock=False, max_dbs=8, map_size=MAP_SIZE_BYTES
        )
        try:
            env.copy(str(to), compact=True)
        finally:
            env.close()
    except lmdb.Error as error:
        raise _told(folder, error) from error


def open_environment(folder: str) -> lmdb.Environment:
    """With as much address space as the broker reserves, or as there is."""
    size_bytes = MAP_SIZE_BYTES
    while True:
        try:
            return lmdb.Environment(
                folder,
                readonly=True,
                map_size=size_bytes,
                max_dbs=8,
                max_readers=MAX_READERS,
                max_spare_txns=1,
                lib_version=0,
            )
        except lmdb.MemoryError:
            size_bytes //= 2
            if not size_bytes:
                raise


def _told(folder: Path, error: lmdb.Error) -> StorageUnusable:
    if isinstance(error, lmdb.ReadersFullError):
        return StorageUnusable(f"the store in {folder} has too many readers")
    return StorageDamaged(f"the store in {folder} cannot be read: {error}")


def _check_there_is_one(folder: Path, layout: Layout) -> None:
    if not holds_a_store(folder, layout):
        raise StorageUnusable(f"there is no store in {folder}")


def _check_last_end(folder: Path) -> None:
    point = RecoveryPoint(folder)
    if not point.was_cut_off:
        return
    if point.found is not None and point.found.root:
        if point.is_newest():
            return
        raise StorageDamaged(
            f"the machine went down, or an fsync failed, while the store in {folder} was open: "
            f"it has to go back to its newest flush first, by a broker or `ottla storage info`"
        )
    check_pages(folder)
