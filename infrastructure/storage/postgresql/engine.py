"""The engine of `postgresql://USER@HOST/DATABASE?schema=NAME`: a store without a folder."""

from __future__ import annotations

import importlib.util

from infrastructure.storage.engine import ClosedStore, Engine, Joining, Storage, ToLoop
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.flush import Flush


def _open(
    place: str,
    flush: Flush,
    map_size_bytes: int | None,
    read_only: bool,
    to_loop: ToLoop | None,
) -> Storage:
    _check_open(flush)
    from infrastructure.storage.postgresql.opening import opened

    return opened(place, flush, to_loop, read_only=read_only)


def _join(place: str, flush: Flush, to_loop: ToLoop, joining: Joining) -> Storage:
    _check_open(flush)
    from infrastructure.storage.postgresql.opening import joined

    return joined(place, flush, to_loop, joining)


def _closed(place: str) -> ClosedStore:
    _check_driver()
    from infrastructure.storage.postgresql.closed import PostgresSchema

    return PostgresSchema(place)


def _check_open(flush: Flush) -> None:
    """Raises StorageUnusable, as `_check_driver`."""
    _check_driver()
    if flush == "interval":
        raise StorageUnusable("PostgreSQL has flush=commit and flush=os, not flush=interval")


def _check_driver() -> None:
    """Raises StorageUnusable."""
    if importlib.util.find_spec("psycopg") is None:
        raise StorageUnusable("PostgreSQL needs its driver: pip install 'psycopg[binary]'")


POSTGRESQL = Engine("postgresql", "user@host/database", _open, database=_closed, join=_join)
