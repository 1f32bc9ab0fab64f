"""Reading an LMDB log from another process than the broker's, beside it.

LMDB keeps readers of other processes apart from the one writer: what a reader's transaction sees
stays as it is. It lasts for one call here too, so that freed pages can be used again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

import lmdb

from infrastructure.storage.lmdb.commit import WritePass, storage_failed
from infrastructure.storage.lmdb.environment import MAP_SIZE_BYTES, MAX_READERS, LmdbEnvironment
from infrastructure.storage.lmdb.log_store import LmdbLogStore
from infrastructure.storage.lmdb.page_loader import PageLoader

if TYPE_CHECKING:
    from lmdb import _Database


class ReadOnlyEnvironment:
    """What a log needs of its environment to be read."""

    __slots__ = ("batches", "env", "timestamps")

    env: lmdb.Environment
    batches: _Database
    timestamps: _Database
    loader: PageLoader | None = None

    def __init__(self, folder: Path) -> None:
        self.env = open_environment(os.fspath(folder))
        self.batches = self.env.open_db(b"batches", create=False)
        self.timestamps = self.env.open_db(b"timestamps", create=False)


def open_environment(folder: str) -> lmdb.Environment:
    """With as much address space as the broker may use of it, or as there is."""
    size_bytes = MAP_SIZE_BYTES
    while True:
        try:
            return lmdb.Environment(
                folder,
                readonly=True,
                map_size=size_bytes,
                max_dbs=8,
                max_readers=MAX_READERS,
                max_spare_txns=1,
                lib_version=0,
            )
        except lmdb.MemoryError:
            size_bytes //= 2
            if not size_bytes:
                raise


def open_to_read(folder: Path) -> LmdbLogStore:
    """Raises StorageFailed. Nothing can be staged in what it gives."""
    try:
        environment = ReadOnlyEnvironment(folder)
    except lmdb.Error as error:
        raise storage_failed("could not be opened to be read", error) from error
    # A pass fails when it begins: LMDB refuses to write in such an environment.
    return LmdbLogStore(environment, WritePass(cast(LmdbEnvironment, environment)))
