"""FilesCommit: LMDB's commit, with the files that may go once it is durable."""

from __future__ import annotations

from infrastructure.storage.files.log_folder import LogFolder, Removal
from infrastructure.storage.lmdb.commit import UNREADABLE, LmdbCommit, WritePass
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.recovery_point import PinnedRoot, SlotNotWritten


class FilesCommit(LmdbCommit):
    __slots__ = ("_flushed", "_folder")

    def __init__(
        self, environment: LmdbEnvironment, write_pass: WritePass, folder: LogFolder
    ) -> None:
        super().__init__(environment, write_pass)
        self._folder = folder
        self._flushed: list[Removal] = []

    def _begin_flush(self) -> None:
        self._flushed += self._folder.take_deferred()

    def _flush(self, root: PinnedRoot) -> bool:
        synced = super()._flush(root)
        if synced:
            flushed, self._flushed = self._flushed, []
            self._folder.remove_all(flushed)
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

    def close(self) -> None:
        if self._closed:
            return
        self._pass.abort()
        self._folder.close()
        super().close()
        if self._pass.is_lost:  # the next start goes back to the recovery point
            return
        self._folder.remove_all(self._flushed + self._folder.take_deferred())
