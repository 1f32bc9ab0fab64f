"""Migrations: steps from each older format of the tables to the next one."""

from __future__ import annotations

from collections.abc import Callable

from infrastructure.storage.errors import StorageInUse
from infrastructure.storage.postgresql.arrays import bigints, byteas, texts
from infrastructure.storage.postgresql.leases import end_brokers
from infrastructure.storage.postgresql.locks import OnlyWriterLock
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.tables import (
    FORMAT,
    INDEX_SCOPES,
    MAKE_CLUSTER,
    MAKE_OBJECTS,
    MAKE_TAILS,
    TAIL_VACUUM,
    VACUUM,
    lock_tables,
)
from infrastructure.storage.repositories.scopes import scope_of

_TO_TAILS = (
    "alter table ottla_store add tail bigint not null default 1",
    "alter table ottla_store alter tail drop default",
    f"alter table ottla_store set ({VACUUM})",
    *MAKE_TAILS,
    # As the current one it is counted at the start, and left behind if it is large.
    "insert into ottla_tails (written) values (0)",
    # One partition after the other, not all entries.
    """insert into ottla_runs (partition_id, first_offset, tail)
        with recursive steps as (
            (select partition_id from ottla_entries order by partition_id limit 1)
            union all
            select found.partition_id from steps, lateral (
                select partition_id from ottla_entries where partition_id > steps.partition_id
                order by partition_id limit 1) found)
        select partition_id, 0, 1 from steps""",
    "alter table ottla_entries rename to ottla_tail_1",
    "alter index ottla_entries_pkey rename to ottla_tail_1_pkey",
    "alter index ottla_timestamps rename to ottla_tail_1_timestamps",
    f"alter table ottla_tail_1 set ({TAIL_VACUUM})",
)


def _to_tails(connection: Rows) -> None:
    """2: entries were in one table, from which they were deleted."""
    for statement in _TO_TAILS:
        connection.execute(statement, prepare=False)


_ROWS_AT_ONCE = 10_000
_TO_SEVERAL = (
    *MAKE_CLUSTER,
    # The last writer's tail is full.
    """update ottla_tails t
        set written = pg_relation_size(c.oid) + pg_relation_size(c.reltoastrelid)
        from ottla_store s join pg_class c on c.oid = to_regclass('ottla_tail_' || s.tail)
        where t.n = s.tail""",
    "alter table ottla_store add version bigint not null default 0",
    "update ottla_store set version = 1",
    "alter table ottla_store rename starts to epoch",
    "alter table ottla_store drop session, drop seq, drop tail",
    """alter table ottla_store reset (fillfactor, autovacuum_vacuum_scale_factor,
        autovacuum_vacuum_threshold)""",
    """alter table ottla_rows alter value drop not null, add kind smallint not null default 0,
        add number bigint not null default 0, add version bigint""",
    *INDEX_SCOPES,
)
_NO_DEFAULTS = """
    alter table ottla_rows alter kind drop default, alter number drop default
"""
_ROWS = 'select "table", coalesce(key, place), value, place from ottla_rows'
_SCOPES = """
    update ottla_rows r set kind = u.kind, number = u.number,
        version = case when u.kind = 0 then 1 end
    from unnest(%s::text[], %s::bytea[], %s::bigint[], %s::bigint[])
        as u("table", place, kind, number)
    where r."table" = u."table" and r.place = u.place
"""


def _to_several(connection: Rows) -> None:
    """3: the store had one writer, and rows no scopes."""
    for statement in _TO_SEVERAL:
        connection.execute(statement, prepare=False)
    rows = connection.execute(_ROWS, binary=True).fetchall()
    for at in range(0, len(rows), _ROWS_AT_ONCE):
        part = rows[at : at + _ROWS_AT_ONCE]
        scopes = [scope_of(table, key, value) for table, key, value, _ in part]
        columns = [
            texts([table for table, *_ in part]),
            byteas([place for *_, place in part]),
            bigints([scope.kind for scope in scopes]),
            bigints([scope.number for scope in scopes]),
        ]
        connection.execute(_SCOPES, columns)
    connection.execute(_NO_DEFAULTS, prepare=False)


def _to_objects(connection: Rows) -> None:
    """4: all tails were tables."""
    for statement in (
        "alter table ottla_store add objects text, add delete_delay_ms bigint",
        *MAKE_OBJECTS,
    ):
        connection.execute(statement, prepare=False)


STEPS: dict[int, Callable[[Rows], None]] = {1: _to_tails, 2: _to_several, 3: _to_objects}


#: Formats up to this one have the lock of their writer.
_ONE_WRITER = 2
_ALIVE = """
    select node_id from ottla_brokers where not is_fenced and until > clock_timestamp() order by 1
"""


def migrate(connection: Rows) -> None:
    """All steps in one transaction. A broker of an older version commits nothing any more.

    Raises StorageInUse or psycopg.Error.
    """
    with connection.transaction():
        lock_tables(connection)
        [(format_,)] = connection.execute("select format from ottla_store").fetchall()
        if format_ == FORMAT:
            return
        if format_ > _ONE_WRITER:
            alive = connection.execute(_ALIVE).fetchall()
            if alive:
                brokers = ", ".join(str(node_id) for (node_id,) in alive)
                raise StorageInUse(f"brokers of an older version use the database: {brokers}")
            # PostgreSQL may have been away for longer than their leases.
            end_brokers(connection)
        lock = OnlyWriterLock()
        if not lock.taken(connection):
            holder = lock.holder(connection)
            raise StorageInUse(f"the database is in use by {holder}, which has an older version")
        for number in range(format_, FORMAT):
            STEPS[number](connection)
        connection.execute("update ottla_store set format = %s", (FORMAT,))
    lock.release(connection)
