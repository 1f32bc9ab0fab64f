"""What is read of the store: how much it has used, and how much room is left."""

from __future__ import annotations

import os
from collections.abc import Iterator

from application.metrics.families import own
from application.metrics.families.family import Reading
from infrastructure.storage.engine import Storage


class StoreFigures:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self) -> Iterator[Reading]:
        room = None if self._storage.room is None else self._storage.room()
        yield own.STORE_MAP, [] if room is None else [((), room.map_bytes)]
        yield own.STORE_USED, [] if room is None else [((), room.used_bytes)]
        yield own.STORE_PAGES, [] if room is None else [((), room.used_bytes // room.page_bytes)]
        yield own.DISK_FREE, [((), free) for free in self._free_bytes()]

    def _free_bytes(self) -> Iterator[int]:
        folder = self._storage.info.path
        if folder is None:
            return
        try:
            disk = os.statvfs(folder)
        except OSError:
            return
        yield disk.f_bavail * disk.f_frsize
