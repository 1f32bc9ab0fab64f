"""The commit of LMDB: a write transaction for each pass, and when it is synced.

WritePass has the changes since the last commit, as one write transaction or as a failure. Such a
transaction belongs to its thread and excludes other writers, so it begins with the first change of
a pass and ends with that pass's commit, on the same thread. The first change that fails ends it at
once: nothing of the pass is persisted, and the commit returns the failure.

With `flush = commit` the fsync happens within the commit: docs/internals/adr/0002 measured it. With
`interval`, `start_flush` is called every so often and the fsync waits in a thread of its own; when
it is done, what it has synced is the new recovery point. What survives what: see environment.py.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from struct import error as StructError
from typing import TYPE_CHECKING, Protocol

import lmdb

from domain.errors import StorageFailed
from infrastructure.storage.errors import store_closed
from infrastructure.storage.lmdb.entries import AlreadyThere
from infrastructure.storage.lmdb.environment import LmdbEnvironment, identity_of, is_out_of_space
from infrastructure.storage.lmdb.recovery_point import PinnedRoot, SlotNotWritten

if TYPE_CHECKING:
    from lmdb import Transaction

    Txn = Transaction[memoryview]

#: Reported by LMDB, or a key or an entry of the wrong length.
UNREADABLE = (lmdb.Error, StructError)
#: An error of the engine, or of the system.
Refusal = Exception | str


class StagedLog(Protocol):
    """What an engine has staged besides the transaction."""

    def put_all(self, txn: Transaction[memoryview]) -> None:
        """Before the commit. Raises lmdb.Error, AlreadyThere or OSError."""
        ...

    def committed(self) -> None: ...

    def clear(self) -> None:
        """The pass has failed."""
        ...


class WritePass:
    __slots__ = ("_environment", "_failure", "_full", "_lost", "_size_bytes", "_staged", "txn")

    def __init__(self, environment: LmdbEnvironment, staged: StagedLog) -> None:
        self._environment = environment
        #: None until something is staged, and after a failure.
        self.txn: Transaction[memoryview] | None = None
        self._staged = staged
        self._failure: StorageFailed | None = None
        #: Final: data that was reported durable may be lost, so every later pass fails.
        self._lost: StorageFailed | None = None
        self._full = False
        self._size_bytes = 0

    def begin(self) -> Transaction[memoryview] | None:
        """The transaction to stage in; None when this pass has failed already."""
        if self.txn is None and self._failure is None:
            if self._lost is not None:
                self._failure = self._lost
            else:
                try:
                    self.txn = self._environment.env.begin(write=True, buffers=True)
                except lmdb.Error as error:
                    self._failure = storage_failed("could not begin", error)
        return self.txn

    def fail(self, error: Refusal, size_bytes: int = 0) -> None:
        """Discards the pass; `size_bytes` is the size of the change that did not fit."""
        self._full = isinstance(error, lmdb.MapFullError)
        self._size_bytes = size_bytes
        self._failure = storage_failed("could not stage", error)
        self.abort()
        self._release_reserve(error)

    def lose(self, error: Refusal, what: str = "could not flush; restart the broker") -> None:
        """An fsync in the thread failed: commits that were acknowledged may be lost."""
        self._lost = storage_failed(what, error)

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    def abort(self) -> None:
        self._staged.clear()
        txn, self.txn = self.txn, None
        if txn is not None:
            txn.abort()

    def commit(self) -> StorageFailed | None:
        """Ends the pass; the next one starts empty."""
        if self.txn is not None:
            self._put_staged(self.txn)
        txn, self.txn = self.txn, None
        if txn is not None:
            try:
                txn.commit()
            except lmdb.Error as error:
                self._staged.clear()
                self._full = isinstance(error, lmdb.MapFullError)
                # No reason to stop for good, even for an fsync that failed: the root was not moved,
                # and the pages that may be lost belong to nothing.
                self._failure = storage_failed("could not commit", error)
                self._release_reserve(error)
                self._turn()
            else:
                self._staged.committed()
                self._grow_in_time()
                return None
        failure, self._failure = self._failure, None
        if self._full:
            self._make_room()
        return failure

    def _put_staged(self, txn: Transaction[memoryview]) -> None:
        try:
            self._staged.put_all(txn)
        except (lmdb.Error, AlreadyThere, OSError) as error:
            self.fail(error)

    def _release_reserve(self, error: Refusal) -> None:
        if isinstance(error, Exception) and is_out_of_space(error):
            self._environment.reserve.release()

    def _turn(self) -> None:
        """For the next attempt: on a full disk pages that were freed last are usable only then."""
        try:
            self._environment.turn()
        except lmdb.Error:
            pass  # not even this fits on the disk

    def _make_room(self) -> None:
        """For the next attempt: the changes of this pass are lost."""
        self._full = False
        try:
            self._environment.grow(self._size_bytes)
        except (lmdb.Error, OSError) as error:
            self.lose(error)
        self._size_bytes = 0

    def _grow_in_time(self) -> None:
        try:
            self._environment.grow_in_time()
        except (lmdb.Error, OSError) as error:
            self.lose(error)


def storage_failed(what: str, error: Refusal) -> StorageFailed:
    failure = StorageFailed(f"The store {what}: {_reason(error)}")
    if isinstance(error, Exception):
        failure.__cause__ = error
    return failure


def _reason(error: Refusal) -> str:
    if isinstance(error, lmdb.MapFullError):
        return "its map is full"
    if isinstance(error, lmdb.DiskError):
        return "no space is left on the disk"
    if getattr(error, "code", 0) == errno.EIO:
        return "the disk is full, or reported an input/output error"
    if isinstance(error, lmdb.PanicError):
        return "an earlier commit failed halfway; restart the broker"
    return str(error)


class LmdbCommit:
    __slots__ = ("_closed", "_environment", "_flushing", "_pass", "_unflushed")

    def __init__(self, environment: LmdbEnvironment, write_pass: WritePass) -> None:
        self._environment = environment
        self._pass = write_pass
        self._unflushed = False
        self._flushing: threading.Thread | None = None
        self._closed = False

    def commit(self, done: Callable[[StorageFailed | None], None], waits: bool = False) -> None:
        if self._closed:
            done(store_closed())
            return
        if self._pass.txn is not None:
            self._unflushed = True
        done(self._pass.commit())

    def check_file(self) -> None:
        """Commits to a file without a name succeed, and are lost with the process."""
        environment = self._environment
        try:
            if identity_of(environment.data_file) == environment.file_identity:
                return
            what = "replaced"
        except (FileNotFoundError, NotADirectoryError):
            what = "removed"
        except OSError:
            return  # it may be there
        self._pass.lose(f"{environment.data_file} was {what}", "is lost; stop the broker")

    def start_flush(self) -> None:
        """Starts an fsync of all commits, unless there is none or one is running.

        Raises StorageFailed if it cannot start; nothing is lost, and the next one may succeed.
        """
        # The system reports a page that an fsync could not write once only.
        if self._closed or not self._unflushed or self._pass.is_lost:
            return
        if self._flushing is not None and self._flushing.is_alive():
            return
        try:
            # On the loop: no commit runs meanwhile.
            root = self._environment.recovery_point.begin(self._environment.env)
        except (lmdb.Error, OSError) as error:
            raise storage_failed("could not begin to flush", error) from error
        flushing = threading.Thread(target=self._flush, args=(root,), name="ottla-flush")
        self._begin_flush()
        self._unflushed = False
        try:
            flushing.start()
        except RuntimeError as error:  # the system has no further thread
            self._unflushed = True
            root.pin.abort()
            raise storage_failed("could not begin to flush", str(error)) from error
        self._flushing = flushing

    def _begin_flush(self) -> None:
        """On the loop."""

    def _flush(self, root: PinnedRoot) -> bool:
        """In the thread; False if it failed."""
        environment = self._environment
        try:
            environment.recovery_point.sync_and_persist(root, environment.sync)
        except SlotNotWritten:
            self._unflushed = True
        except (lmdb.Error, OSError) as error:
            self._pass.lose(error)
        else:
            return True
        return False

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._pass.abort()
        if self._flushing is not None:
            self._flushing.join()
        synced = False
        try:
            self._environment.sync()
            # A successful fsync after a failed one does not bring back lost pages.
            synced = not self._pass.is_lost
        except (lmdb.Error, OSError) as error:
            self._environment.recovery_point.lose()
            raise storage_failed("could not flush", error) from error
        finally:
            self._environment.close(synced)
