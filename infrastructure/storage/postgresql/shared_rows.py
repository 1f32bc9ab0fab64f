"""Rows of scopes, as they are read: what all brokers share, and what this one has gained."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from infrastructure.storage.postgresql.marker_rows import NOT_READ, MarkersRead
from infrastructure.storage.postgresql.runs import LogRuns
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.tails import TailRow
from infrastructure.storage.repositories.internal_slots import InternalSlots
from infrastructure.storage.repositories.scopes import ScopeKind


class Row(NamedTuple):
    table: str
    key: bytes
    #: None: deleted.
    value: bytes | None
    #: In which it has changed; 0 of rows that are not shared.
    version: int = 0


class SharedRows(NamedTuple):
    #: They are all changes from this version on,
    since: int
    #: up to this one.
    version: int
    rows: list[Row]


class KnownRows(NamedTuple):
    """The shared rows that a broker knows."""

    version: int
    #: By table and key.
    values: dict[tuple[str, bytes], bytes]

    def newer(self, found: SharedRows) -> list[Row] | None:
        """Rows of a database that are not known yet; None: it lacks some that are known.

        `found`: all, with deleted ones. They may be as many changes as are known, and others.
        """
        newer = [row for row in found.rows if row.version > self.version]
        changed = {(row.table, row.key) for row in newer}
        known = {key: value for key, value in self.values.items() if key not in changed}
        there = {
            (row.table, row.key): row.value
            for row in found.rows
            if row.version <= self.version and row.value is not None
        }
        return newer if found.version >= self.version and there == known else None


class Gained(NamedTuple):
    """Partitions that this broker leads since now, and what it has to know of them."""

    partition_ids: frozenset[int]
    rows: list[Row]
    runs: dict[int, LogRuns]
    #: Of each log that has entries the offset after the last one.
    ends: dict[int, int]
    #: In which the runs are.
    tails: list[TailRow]
    #: Not older than the rest.
    markers: MarkersRead = NOT_READ


_ALL = 'select "table", coalesce(key, place), value, coalesce(version, 0) from ottla_rows'
_EVERYTHING = f'{_ALL} where value is not null order by "table", place'
_CHANGED = """
    select s.version, r."table", coalesce(r.key, r.place), r.value, r.version
    from ottla_store s left join ottla_rows r on r.kind = 0 and r.version > %s
    order by r.version
"""
_SHARED_AND_DELETED = f"{_ALL} where kind = 0"
_SHARED = f'{_SHARED_AND_DELETED} and value is not null order by "table", place'
_OF_PARTITIONS = f"""
    {_ALL} where kind = {ScopeKind.PARTITION.value} and number = any(%s)
    order by "table", place
"""
_OF_SLOTS = f"""
    {_ALL} where kind = %s and number %% %s = any(%s) order by "table", place
"""
_VERSION = "select version from ottla_store"


def everything(connection: Rows) -> Iterator[Row]:
    """Of a store that only one process uses. Raises psycopg.Error, as the others."""
    yield from _rows(connection, _EVERYTHING)


def shared(connection: Rows, also_deleted: bool = False) -> SharedRows:
    [(version,)] = connection.execute(_VERSION).fetchall()
    statement = _SHARED_AND_DELETED if also_deleted else _SHARED
    return SharedRows(0, version, list(_rows(connection, statement)))


def changed_since(connection: Rows, version: int) -> SharedRows:
    found = connection.execute(_CHANGED, (version,), binary=True).fetchall()
    rows = [Row(*one[1:]) for one in found if one[1] is not None]
    return SharedRows(version, found[0][0], rows)


def of_partitions(
    connection: Rows, partition_ids: Collection[int], slots: InternalSlots
) -> list[Row]:
    if not partition_ids:
        return []
    rows = list(_rows(connection, _OF_PARTITIONS, (list(partition_ids),)))
    for kind, count, numbers in slots.of(partition_ids):
        rows += _rows(connection, _OF_SLOTS, (kind.value, count, numbers))
    return rows


def _rows(connection: Rows, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
    with connection.cursor() as cursor:
        for one in cursor.stream(statement.encode(), values, binary=True):
            yield Row(*one)
