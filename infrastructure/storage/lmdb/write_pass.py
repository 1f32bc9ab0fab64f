"""WritePass: what is staged since the last commit, as one write transaction or as a failure.

A write transaction belongs to the thread that began it and keeps other writers out, so it is begun
with the first change of a pass and ends with that pass's commit, on the same thread. The first
change that fails ends it at once: nothing of the pass is kept, and the commit says why.
"""

from __future__ import annotations

import errno
from struct import error as StructError
from typing import TYPE_CHECKING

import lmdb

from domain.errors import StorageFailed
from infrastructure.storage.lmdb.entries import AlreadyThere, StagedEntries
from infrastructure.storage.lmdb.environment import LmdbEnvironment

if TYPE_CHECKING:
    from lmdb import Transaction


#: What the store said, or what we say for it.
Refusal = lmdb.Error | OSError | StructError | AlreadyThere | str


class WritePass:
    __slots__ = ("_environment", "_failure", "_full", "_lost", "_size_bytes", "entries", "txn")

    def __init__(self, environment: LmdbEnvironment) -> None:
        self._environment = environment
        #: None until something is staged, and after a failure.
        self.txn: Transaction[memoryview] | None = None
        #: Batches of this pass that are not put yet.
        self.entries = StagedEntries(environment.batches, environment.loader)
        self._failure: StorageFailed | None = None
        #: For good: what was reported durable may not be, so nothing more is promised.
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
        """Forgets the pass; `size_bytes` is what there was no room for."""
        self._full = isinstance(error, lmdb.MapFullError)
        self._size_bytes = size_bytes
        self._failure = storage_failed("could not stage", error)
        self.abort()

    def lose(self, error: lmdb.Error | OSError) -> None:
        """An fsync beside the commits failed: what they promised may have been dropped."""
        self._lost = storage_failed("could not flush; restart the broker", error)

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    def abort(self) -> None:
        self.entries.clear()
        txn, self.txn = self.txn, None
        if txn is not None:
            txn.abort()

    def commit(self) -> StorageFailed | None:
        """Ends the pass; the next one starts afresh whatever happened."""
        if self.txn is not None:
            self._put_entries(self.txn)
        txn, self.txn = self.txn, None
        if txn is not None:
            try:
                txn.commit()
            except lmdb.Error as error:
                self._full = isinstance(error, lmdb.MapFullError)
                # No reason to stop for good, even for an fsync that failed: the root was not moved,
                # and the pages that may be lost belong to nothing.
                self._failure = storage_failed("could not commit", error)
                self._turn()
            else:
                self._grow_in_time()
                return None
        failure, self._failure = self._failure, None
        if self._full:
            self._make_room()
        return failure

    def _put_entries(self, txn: Transaction[memoryview]) -> None:
        try:
            self.entries.put_all(txn)
        except (lmdb.Error, AlreadyThere) as error:
            self.fail(error)

    def _turn(self) -> None:
        """For the client's next try: on a full disk, what was dropped last is of use only then."""
        try:
            self._environment.turn()
        except lmdb.Error:
            pass  # the disk is so full, or so ill, that even this is too much

    def _make_room(self) -> None:
        """For the client's next try: this one's changes are gone."""
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
        # LMDB says so too where the disk took only a part of what was written.
        return "the disk is full, or reported an input/output error"
    if isinstance(error, lmdb.PanicError):
        return "an earlier commit failed halfway; restart the broker"
    return str(error)
