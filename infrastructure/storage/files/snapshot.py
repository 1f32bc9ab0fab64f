"""A snapshot of a store of files: a copy of its rows, and links to its files, which only grow."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable

from infrastructure.storage.files.commit import FilesCommit
from infrastructure.storage.files.log_folder import SNAPSHOTS, LogFolder
from infrastructure.storage.lmdb.commit import WritePass, storage_failed
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.snapshot import LmdbSnapshot


class FilesSnapshot(LmdbSnapshot):
    def __init__(
        self,
        environment: LmdbEnvironment,
        write_pass: WritePass,
        commit: FilesCommit,
        folder: LogFolder,
    ) -> None:
        super().__init__(environment, write_pass, commit)
        self._folder = folder
        self._files_commit = commit
        self._root = str(environment.folder)
        self._links = f"{self._root}/{SNAPSHOTS}.{uuid.uuid4().hex}-stray"
        #: Of each file: folder of the log, name, bytes.
        self._found: list[tuple[str, str, int]] = []
        try:
            os.mkdir(self._links, 0o700)
            for partition_id in folder.partition_ids():
                self._link(partition_id)
        except OSError as error:
            self.delete()
            raise storage_failed("could not be copied", error) from error

    def _link(self, partition_id: int) -> None:
        log = self._folder.find(partition_id)
        if log is None or not log.segments:
            return
        name = os.path.basename(log.folder)
        os.mkdir(f"{self._links}/{name}", 0o700)
        for segment in log.segments:
            path = segment.path
            os.link(path, f"{self._links}/{name}/{os.path.basename(path)}")
            self._found.append((name, os.path.basename(path), segment.size_bytes))

    def restore(self, stage: Callable[[], object] = lambda: None) -> None:
        aside = f"{self._root}/{SNAPSHOTS}.{uuid.uuid4().hex}-stray"
        self._pass.abort()
        self._files_commit.forget_removals()
        try:
            os.mkdir(aside, 0o700)
            self._folder.put_aside(aside)
            self._put_back()
        except OSError as error:
            raise storage_failed("could not be restored", error) from error
        super().restore(stage)
        shutil.rmtree(aside, ignore_errors=True)

    def _put_back(self) -> None:
        """Copies: the store goes on with these files, and a snapshot is restored more than once."""
        for folder, name, size_bytes in self._found:
            to = f"{self._root}/{folder}"
            os.makedirs(to, 0o700, exist_ok=True)
            if not os.path.exists(f"{to}/{name}"):
                shutil.copyfile(f"{self._links}/{folder}/{name}", f"{to}/{name}")
                os.truncate(f"{to}/{name}", size_bytes)

    def delete(self) -> None:
        super().delete()
        shutil.rmtree(self._links, ignore_errors=True)
