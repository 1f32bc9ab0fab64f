"""Committed offsets in a database: SQLAlchemy is imported when one is opened."""

from __future__ import annotations

import importlib.util

from application.ports.offset_repository import OffsetRepository
from infrastructure.storage.errors import OffsetsUnusable
from infrastructure.storage.offsets_home import OffsetsContext


def in_sqlite(url: str, context: OffsetsContext) -> OffsetRepository:
    from infrastructure.storage.sql.offset_repository import SqlOffsetRepository

    return SqlOffsetRepository(url, context)


def in_postgresql(url: str, context: OffsetsContext) -> OffsetRepository:
    if importlib.util.find_spec("psycopg") is None:
        raise OffsetsUnusable("PostgreSQL needs its driver: pip install 'psycopg[binary]'")
    return in_sqlite(url, context)
