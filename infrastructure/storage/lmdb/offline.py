"""A folder that no broker has: what its last end means, whether its pages are whole, compaction."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import lmdb

from infrastructure.storage.errors import StorageDamaged, StorageUnusable
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.folder_lock import FolderLock
from infrastructure.storage.lmdb.inspection import page_problem
from infrastructure.storage.lmdb.recovery_point import RecoveryPoint, sync_folder

DATA_FILE = "data.mdb"
#: Left behind by a compaction that was killed; the next one makes it anew.
COMPACT_FILE = "compact.mdb"

_CLOSED = (
    "it was closed in order, or ran with flush=commit: all that was acknowledged is on the disk, "
    "and a power cut could have taken nothing"
)
_KILLED = (
    "its broker was killed under flush={flush} and the machine has been up since: all that was "
    "acknowledged is there, but a power cut before the next start would {price}"
)
_CUT_OFF = (
    "the machine went down, or an fsync failed, while the store was open with flush={flush}: "
    "{price}"
)


def is_store(folder: Path) -> bool:
    return (folder / DATA_FILE).exists()


def last_end(folder: Path) -> str:
    """What a power cut has done, or could have done; raises StorageUnusable."""
    lock = _locked(folder)
    try:
        point = RecoveryPoint(folder)
    finally:
        lock.release()
    if point.found is None:
        return _CLOSED
    if point.found.root:
        if point.was_cut_off:
            price = "it goes back to the newest flush, what was acknowledged after that is gone"
            return _CUT_OFF.format(flush="interval", price=price)
        return _KILLED.format(flush="interval", price="take it back to the newest flush")
    if point.was_cut_off:
        price = "the newest may be missing, and all of it had to be looked at"
        return _CUT_OFF.format(flush="os", price=price)
    return _KILLED.format(flush="os", price="make all of it unreadable")


def check_pages(folder: Path) -> str | None:
    """What is wrong with the pages, before LMDB trusts them; raises StorageUnusable."""
    lock = _locked(folder)
    try:
        # After a power cut the newest root counts for nothing: opening puts another in its place.
        return None if RecoveryPoint(folder).was_cut_off else page_problem(folder / DATA_FILE)
    finally:
        lock.release()


def compact(folder: Path) -> tuple[int, int]:
    """Writes the pages that are in use beside the store, then takes its place.

    Returns the bytes of the file before and after. Killed at any moment, it leaves one whole store.
    """
    data_file, new = folder / DATA_FILE, folder / COMPACT_FILE
    environment = LmdbEnvironment(folder, "commit")
    try:
        before = data_file.stat()
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            # Whoever compacts, root maybe, the broker and nobody else is to open it again.
            os.fchown(descriptor, before.st_uid, before.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
            environment.env.copyfd(descriptor, compact=True)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        # Nobody may have the old file open when the new one is there; the folder stays locked.
        environment.env.close()
        new.rename(data_file)
        sync_folder(folder)
        return before.st_size, data_file.stat().st_size
    except lmdb.Error as error:
        raise StorageDamaged(f"the store in {folder} cannot be copied: {error}") from error
    except OSError as error:
        raise StorageUnusable(
            f"the store in {folder} cannot be compacted: {error.strerror or error}"
        ) from error
    finally:
        new.unlink(missing_ok=True)
        environment.close(synced=True)


def _locked(folder: Path) -> FolderLock:
    try:
        return FolderLock(folder)
    except OSError as error:
        reason = error.strerror or error
        raise StorageUnusable(f"the data folder {folder} cannot be used: {reason}") from error
