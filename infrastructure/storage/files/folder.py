"""A folder of `files://` that no broker has."""

from __future__ import annotations

from infrastructure.storage.files.beside import FilesBeside
from infrastructure.storage.files.environment import FilesEnvironment
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.folder import LmdbFolder
from infrastructure.storage.lmdb.identity import IN_FILES


class FilesFolder(LmdbFolder):
    """Implements infrastructure.storage.engine.StoreFolder."""

    __slots__ = ()

    layout = IN_FILES
    not_compacted = " (the rows; segments have no free space)"

    def beside(self, known_whole: bool) -> FilesBeside:
        return FilesBeside(self.path, known_whole)

    def _environment(self) -> LmdbEnvironment:
        return FilesEnvironment(self.path, "commit")
