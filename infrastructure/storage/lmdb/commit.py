"""LmdbCommit: one transaction a pass, committed on the thread that staged it.

With `flush = commit` the fsync happens within the commit; docs/adr/0002 has the measurement. With
`interval`, `start_flush` is called every so often and the fsync waits in a thread of its own; when
it is done, what it has synced is the new recovery point. What survives what: see environment.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import lmdb

from domain.errors import StorageFailed
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.recovery_point import PinnedRoot, SlotNotWritten
from infrastructure.storage.lmdb.write_pass import WritePass, storage_failed


class LmdbCommit:
    __slots__ = ("_closed", "_environment", "_flushing", "_pass", "_unflushed")

    def __init__(self, environment: LmdbEnvironment, write_pass: WritePass) -> None:
        self._environment = environment
        self._pass = write_pass
        self._unflushed = False
        self._flushing: threading.Thread | None = None
        self._closed = False

    def commit(self, done: Callable[[StorageFailed | None], None]) -> None:
        if self._pass.txn is not None:
            self._unflushed = True
        done(self._pass.commit())

    def start_flush(self) -> None:
        """Starts an fsync of all that is committed, unless there is nothing, or one under way.

        Raises StorageFailed when it cannot be begun; nothing is lost by that, the next one may.
        """
        # A page that an fsync could not write is as good as written for the next one.
        if self._closed or not self._unflushed or self._pass.is_lost:
            return
        if self._flushing is not None and self._flushing.is_alive():
            return
        try:
            # Here, where nobody commits meanwhile.
            kept = self._environment.recovery_point.begin(self._environment.env)
        except (lmdb.Error, OSError) as error:
            raise storage_failed("could not begin to flush", error) from error
        flushing = threading.Thread(target=self._flush, args=(kept,), name="ottla-flush")
        self._unflushed = False
        try:
            flushing.start()
        except RuntimeError as error:  # the system has no further thread
            self._unflushed = True
            kept.pin.abort()
            raise storage_failed("could not begin to flush", str(error)) from error
        self._flushing = flushing

    def _flush(self, kept: PinnedRoot) -> None:
        environment = self._environment
        try:
            environment.recovery_point.sync_and_keep(kept, environment.sync)
        except SlotNotWritten:
            self._unflushed = True
        except (lmdb.Error, OSError) as error:
            self._pass.lose(error)

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
            # An fsync that succeeds after one that failed does not bring back what that one lost.
            synced = not self._pass.is_lost
        except (lmdb.Error, OSError) as error:
            self._environment.recovery_point.lose()
            raise storage_failed("could not flush", error) from error
        finally:
            self._environment.close(synced)
