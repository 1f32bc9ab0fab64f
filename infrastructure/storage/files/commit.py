"""FilesCommit: LMDB's commit, with the files that may go once it is durable."""

from __future__ import annotations

import os

from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.lmdb.commit import UNREADABLE, LmdbCommit, WritePass
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.recovery_point import PinnedRoot, SlotNotWritten


class FilesCommit(LmdbCommit):
    __slots__ = ("_folder", "_lock")

    def __init__(
        self, environment: LmdbEnvironment, write_pass: WritePass, folder: LogFolder, lock: int
    ) -> None:
        """`lock`: a descriptor that is closed at the end, or -1."""
        super().__init__(environment, write_pass)
        self._folder = folder
        self._lock = lock

    def _begin_flush(self) -> None:
        self._folder.removals.begin_flush()

    def _flush(self, root: PinnedRoot) -> bool:
        synced = super()._flush(root)
        if synced:
            self._folder.removals.flushed()
        return synced

    def keep(self) -> None:
        """Makes all that is committed durable, and waits for it. Raises OSError or lmdb.Error."""
        try:
            self._environment.keep_newest()
        except SlotNotWritten:
            raise
        except (*UNREADABLE, OSError) as error:
            self._pass.lose(error)
            raise

    def forget_removals(self) -> None:
        """Other files take the places of those that were to go."""
        if self._flushing is not None:
            self._flushing.join()
        self._folder.removals.forget()

    def close(self) -> None:
        if self._closed:
            return
        self._pass.abort()
        self._folder.close()
        super().close()
        # Else the next start goes back to the recovery point.
        if not self._pass.is_lost:
            self._folder.removals.begin_flush()
            self._folder.removals.flushed()
        if self._lock >= 0:
            os.close(self._lock)
