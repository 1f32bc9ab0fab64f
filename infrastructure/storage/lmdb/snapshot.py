"""A snapshot of an LMDB store: a copy beside it, put back in one commit."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import mkstemp

import lmdb

from application.ports.commit import at_once
from infrastructure.storage.lmdb.commit import LmdbCommit, WritePass, storage_failed
from infrastructure.storage.lmdb.environment import SNAPSHOT_FILES, LmdbEnvironment


class LmdbSnapshot:
    """Implements infrastructure.storage.engine.StoreSnapshot."""

    def __init__(
        self, environment: LmdbEnvironment, write_pass: WritePass, commit: LmdbCommit
    ) -> None:
        self._environment = environment
        self._pass = write_pass
        self._commit = commit
        try:
            prefix, suffix = SNAPSHOT_FILES
            descriptor, path = mkstemp(suffix, f"{prefix}{os.getpid()}-", environment.folder)
            self._file = Path(path)
            try:
                environment.env.copyfd(descriptor, compact=True)
            except BaseException:
                self.delete()
                raise
            finally:
                os.close(descriptor)
        except (lmdb.Error, OSError) as error:
            raise storage_failed("could not be copied", error) from error

    def restore(self, stage: Callable[[], object] = lambda: None) -> None:
        self._pass.abort()
        try:
            self._copy_back()
            stage()
        except (lmdb.Error, OSError) as error:
            self._pass.fail(error)
        at_once(self._commit.commit)

    def _copy_back(self) -> None:
        environment = self._environment
        txn = self._pass.begin()
        if txn is None:
            return  # the commit fails
        copy = lmdb.Environment(
            str(self._file), subdir=False, readonly=True, lock=False, max_dbs=8, lib_version=0
        )
        try:
            for name, database in (
                (b"batches", environment.batches),
                (b"timestamps", environment.timestamps),
                (b"rows", environment.rows),
            ):
                txn.drop(database, delete=False)
                source = copy.open_db(name, create=False)
                with copy.begin(buffers=True) as reading, txn.cursor(database) as cursor:
                    cursor.putmulti(iter(reading.cursor(source)), append=True)
        finally:
            copy.close()

    def delete(self) -> None:
        self._file.unlink(missing_ok=True)
