"""Metrics of the store: used bytes, and free bytes of its volume."""

from __future__ import annotations

from collections.abc import Iterator

from application.metrics.families import own
from application.metrics.families.family import Reading
from application.ports.volume import UNKNOWN_SPACE
from infrastructure.storage.engine import Storage
from infrastructure.storage.volume import StorageVolume


class StoreFigures:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self) -> Iterator[Reading]:
        room = None if self._storage.room is None else self._storage.room()
        yield own.STORE_MAP, [] if room is None else [((), room.map_bytes)]
        yield own.STORE_USED, [] if room is None else [((), room.used_bytes)]
        yield own.STORE_PAGES, [] if room is None else [((), room.used_bytes // room.page_bytes)]
        yield own.STORE_FREE, [] if room is None else [((), room.free_bytes)]
        space = StorageVolume(self._storage.info).space()
        yield own.DISK_FREE, [] if space == UNKNOWN_SPACE else [((), space.usable_bytes)]
