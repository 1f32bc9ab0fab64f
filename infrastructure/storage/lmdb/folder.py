"""A folder that no broker has: what its last end means, whether its pages are whole, compaction,
and the folder that a copy becomes."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import lmdb

from application.ports.log_store import LogStore
from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageDamaged, StorageUnusable
from infrastructure.storage.lmdb.beside import StoreBeside
from infrastructure.storage.lmdb.environment import COMPACT_FILE, LmdbEnvironment
from infrastructure.storage.lmdb.folder_lock import LOCK_FILE, FolderLock
from infrastructure.storage.lmdb.identity import IN_LMDB
from infrastructure.storage.lmdb.inspection import DATA_FILE, page_problem
from infrastructure.storage.lmdb.recovery_point import UNSYNCED_FILE, RecoveryPoint
from infrastructure.storage.lmdb.reserve import RESERVE_FILE
from infrastructure.storage.sync_folder import sync_folder

_REPORTED_EVERY_S = 0.1
_OF_A_NEW_STORE = {
    *(DATA_FILE, "lock.mdb", "new.mdb", "new.mdb-lock"),
    *(LOCK_FILE, UNSYNCED_FILE, RESERVE_FILE),
}

_CLOSED = (
    "the store was closed cleanly or used flush=commit: a power cut cannot have lost acknowledged "
    "records"
)
_KILLED = (
    "the broker was killed with flush={flush} and the machine has not restarted since: no "
    "acknowledged record is lost, but a power cut before the next start would {price}"
)
_CUT_OFF = (
    "the machine went down, or an fsync failed, while the store was open with flush={flush}: "
    "{price}"
)


class LmdbFolder:
    """Implements infrastructure.storage.engine.StoreFolder."""

    __slots__ = ("path",)

    layout = IN_LMDB
    pages = "all pages are valid"
    has_checked_pages = True
    not_compacted = ""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def shown(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        return self.path.exists()

    @property
    def url(self) -> str:
        return f"{self.layout.scheme}://{self.path}"

    def beside(self, known_whole: bool) -> StoreBeside:
        return StoreBeside(self.path, known_whole)

    def open_log(self) -> LogStore:
        try:
            return self.beside(known_whole=True).log
        except StorageUnusable as error:
            raise StorageFailed(str(error)) from error

    def has_store(self) -> bool:
        return (self.path / DATA_FILE).exists()

    def last_end(self) -> str:
        """What a power cut has done, or could have done."""
        lock = _locked(self.path)
        try:
            point = RecoveryPoint(self.path)
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

    def check_pages(self) -> str | None:
        """What is wrong with the pages, before LMDB trusts them."""
        lock = _locked(self.path)
        try:
            if RecoveryPoint(self.path).was_cut_off:
                # The newest root counts for nothing: opening puts another in its place.
                return None
            return page_problem(self.path / DATA_FILE)
        finally:
            lock.release()

    def compact(self, report: Callable[[float], object]) -> tuple[int, int]:
        """Writes the pages that are in use beside the store, then takes its place.

        A thread reports the written share now and then. Returns the bytes of the file before and
        after. Killed at any moment, it leaves one whole store.
        """
        folder = self.path
        data_file, new = folder / DATA_FILE, folder / COMPACT_FILE
        environment = self._environment()
        try:
            before = data_file.stat()
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                # Even if root compacts, only the broker's user may open it.
                os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
                with _watched(descriptor, environment.live_bytes, report):
                    environment.env.copyfd(descriptor, compact=True)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            # The old file is closed before the new one takes its name; the folder stays locked.
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

    def _environment(self) -> LmdbEnvironment:
        return LmdbEnvironment(self.path, "commit")

    @contextmanager
    def made_whole(self) -> Iterator[str]:
        """The URL of a folder beside it, which takes its name when all went well.

        Killed at any moment, there is a whole store under the name, or none.
        """
        folder = self.path
        partial = folder.with_name(f"{folder.name}.partial")
        try:
            _remove_left_over(partial)
        except OSError as error:
            raise _cannot_be_made(partial, error) from error
        try:
            yield type(self)(partial).url
            try:
                partial.rename(folder)
                sync_folder(folder.parent)
            except OSError as error:
                raise _cannot_be_made(folder, error) from error
        except BaseException:
            with suppress(OSError):
                _remove(partial)
            raise


@contextmanager
def _watched(descriptor: int, size_bytes: int, report: Callable[[float], object]) -> Iterator[None]:
    """LMDB writes without the interpreter's lock, and reports nothing itself."""
    over = threading.Event()

    def look() -> None:
        # The file has some pages beside those that are counted.
        report(min(1.0, os.fstat(descriptor).st_size / size_bytes))

    def watch() -> None:
        look()
        while not over.wait(_REPORTED_EVERY_S):
            look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _remove_left_over(partial: Path) -> None:
    """Of one that was killed."""
    if not partial.exists():
        return
    left_over = {file.name for file in partial.iterdir()}
    # A copy that was killed closed nothing; what has no rows is no store.
    if DATA_FILE not in left_over and not left_over <= _OF_A_NEW_STORE:
        raise StorageUnusable(f"{partial} is in the way: what lies in it is no store")
    lock = _locked(partial)  # refused while another process writes it
    try:
        _remove(partial)
    finally:
        lock.release()


def _remove(folder: Path) -> None:
    """The rows last: what is left of a folder without them is not known to be a store's."""
    for inside in folder.iterdir():
        if inside.is_dir() and not inside.is_symlink():
            shutil.rmtree(inside)
    shutil.rmtree(folder)


def _cannot_be_made(folder: Path, error: OSError) -> StorageUnusable:
    return StorageUnusable(f"{folder} cannot be made: {error.strerror or error}")


def _locked(folder: Path) -> FolderLock:
    try:
        return FolderLock(folder)
    except OSError as error:
        reason = error.strerror or error
        raise StorageUnusable(f"the data folder {folder} cannot be used: {reason}") from error
