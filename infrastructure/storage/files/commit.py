"""FilesCommit: LMDB's commit, with the files that may go once it is durable."""

from __future__ import annotations

from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.lmdb.commit import LmdbCommit, WritePass
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.recovery_point import PinnedRoot


class FilesCommit(LmdbCommit):
    __slots__ = ("_folder",)

    def __init__(
        self, environment: LmdbEnvironment, write_pass: WritePass, folder: LogFolder
    ) -> None:
        super().__init__(environment, write_pass)
        self._folder = folder

    def _begin_flush(self) -> None:
        self._folder.removals.begin_flush()

    def _flush(self, root: PinnedRoot) -> bool:
        synced = super()._flush(root)
        if synced:
            self._folder.removals.flushed()
        return synced

    def close(self) -> None:
        if self._closed:
            return
        self._pass.abort()
        self._folder.close()
        super().close()
        self._folder.removals.begin_flush()
        self._folder.removals.flushed()
