"""Metrics of the store: used bytes, free bytes of its volume, copies, and its objects."""

from __future__ import annotations

from collections.abc import Iterator

from application.metrics.families import own
from application.metrics.families.family import Reading
from application.ports.volume import UNKNOWN_SPACE
from infrastructure.storage.engine import Objects, Storage
from infrastructure.storage.traffic import REQUESTS
from infrastructure.storage.volume import StorageVolume

_FAMILIES = (own.ENTRY_BYTES, own.OBJECT_REQUESTS, own.OBJECT_FAILURES, own.OBJECT_BYTES)


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
        copies = self._storage.copies
        yield own.STORE_COPIES, [] if copies is None else [((), copies.count)]
        sessions = self._storage.sessions_taken
        yield own.STORE_SESSIONS, [] if sessions is None else [((), sessions())]
        yield from _of_objects(self._storage.objects)


def _of_objects(objects: Objects | None) -> Iterator[Reading]:
    if objects is None:
        for family in _FAMILIES:
            yield family, []
        return
    sizes, traffic = objects.sizes(), objects.traffic
    yield own.ENTRY_BYTES, [(("database",), sizes.in_database), (("objects",), sizes.in_objects)]
    for family, counts in (
        (own.OBJECT_REQUESTS, traffic.requests),
        (own.OBJECT_FAILURES, traffic.failures),
        (own.OBJECT_BYTES, traffic.size_bytes),
    ):
        yield family, [((one,), counts[one]) for one in REQUESTS]
