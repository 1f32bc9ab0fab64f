"""The engine of `postgresql://USER@HOST/DATABASE?schema=NAME`: a store without a folder."""

from __future__ import annotations

import importlib.util

from infrastructure.storage.engine import Engine, Storage, ToLoop
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.flush import Flush


def _open(
    place: str,
    flush: Flush,
    map_size_bytes: int | None,
    read_only: bool,
    to_loop: ToLoop | None,
) -> Storage:
    if importlib.util.find_spec("psycopg") is None:
        raise StorageUnusable("PostgreSQL needs its driver: pip install 'psycopg[binary]'")
    if flush == "interval":
        raise StorageUnusable("PostgreSQL has flush=commit and flush=os, not flush=interval")
    if read_only:
        raise StorageUnusable("a store in PostgreSQL is not opened read-only")
    from infrastructure.storage.postgresql.opening import opened

    return opened(place, flush, to_loop)


POSTGRESQL = Engine("postgresql", "user@host/database", _open)
