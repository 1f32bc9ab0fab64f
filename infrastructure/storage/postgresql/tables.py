"""The tables of a store: made and checked. All in one schema.

ottla_store      one row: the id of the store, the format of its tables, the version of the rows
                 that all brokers share, the leader epoch of partitions that never had a leader, and
                 where its objects are
ottla_fences     of each broker that writes the session, the number of its newest commit, and its
                 current tail
ottla_brokers    of each broker when its lease ends, which version it has, and its addresses
ottla_sessions   the sessions that are over, each with the number of its last commit
ottla_rows       the rows of the state, by table and key, with their scopes; of those that all
                 brokers share the version in which they have changed, deleted ones too
ottla_tail_N     entries: the batches of one partition and commit, under their last offset, with
                 their places in the timestamp index, and the largest timestamp of these
ottla_object_entries
                 the same without batches, of tails that are objects, with their places in these
ottla_tails      the tails: of those that are full how many bytes were written; how many of the
                 entries are not needed any more; and the names of those that are objects
ottla_runs       in which tail the entries of a partition are, from an offset to the next run
"""

from __future__ import annotations

import uuid

from infrastructure.storage.errors import (
    StorageDamaged,
    StorageForeign,
    StorageOtherFormat,
    StorageUnusable,
)
from infrastructure.storage.postgresql.address import Address
from infrastructure.storage.postgresql.server import Rows, in_schema

#: Changes with the tables.
FORMAT = 4

#: A key that is longer is cut and ends with its digest: an index of PostgreSQL takes 2,700 bytes.
LONGEST_KEY = 1000

ENTRY_COLUMNS = "partition_id, last_offset, size, timestamp, times, headers, data"
#: What is updated or deleted; by default a fifth of a table is dead before it is vacuumed.
VACUUM = "autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000"
#: Of a tail only compaction changes anything; nothing is gained by looking through the rest.
TAIL_VACUUM = f"{VACUUM}, autovacuum_vacuum_insert_threshold = -1"

MAKE_CLUSTER = (
    f"""create table ottla_fences (
        node_id integer primary key, session bigint not null, seq bigint not null,
        tail bigint not null) with (fillfactor = 50, {VACUUM})""",
    f"""create table ottla_brokers (
        node_id integer primary key, until timestamptz not null, is_fenced boolean not null,
        version bigint not null, client text not null, registration jsonb not null
        ) with (fillfactor = 50, {VACUUM})""",
)
INDEX_SCOPES = (
    "create index ottla_scopes on ottla_rows (kind, number) where kind <> 0",
    "create index ottla_versions on ottla_rows (version) where kind = 0",
)
_MAKE_SCHEMA = "create schema {schema}"
_MAKE = (
    """create table ottla_store (
        one boolean primary key default true check (one),
        id text not null, format integer not null, version bigint not null default 0,
        epoch integer not null default 0, objects text, delete_delay_ms bigint)""",
    *MAKE_CLUSTER,
    "create table ottla_sessions (session bigint primary key, last_seq bigint not null)",
    f"""create table ottla_rows (
        "table" text collate "C" not null, place bytea not null, key bytea, value bytea,
        kind smallint not null, number bigint not null, version bigint,
        primary key ("table", place)) with (fillfactor = 80, {VACUUM})""",
    *INDEX_SCOPES,
)
MAKE_TAILS = (
    f"""create table ottla_tails (
        n bigint generated always as identity primary key,
        written bigint not null, dead bigint not null default 0
        ) with (fillfactor = 50, {VACUUM})""",
    f"""create table ottla_runs (
        partition_id bigint not null, first_offset bigint not null, tail bigint not null,
        primary key (partition_id, first_offset)) with (fillfactor = 80, {VACUUM})""",
    "create index ottla_runs_tail on ottla_runs (tail)",
)
MAKE_OBJECTS = (
    # Name of the object; the session that writes it still; and since when it is not needed.
    "alter table ottla_tails add object text, add session bigint, add deleted timestamptz",
    "create index ottla_tails_deleted on ottla_tails (deleted) where deleted is not null",
    f"""create table ottla_object_entries (
        tail bigint not null, partition_id bigint not null, last_offset bigint not null,
        size integer not null, timestamp bigint, times bytea, headers bytea not null,
        position bigint not null, crc bigint not null,
        primary key (tail, partition_id, last_offset)) with ({VACUUM})""",
)
_MAKE_TAIL = f"""
    create table ottla_tail_{{0}} (
        partition_id bigint not null, last_offset bigint not null, size integer not null,
        timestamp bigint, times bytea, headers bytea not null, data bytea not null,
        primary key (partition_id, last_offset)) with ({TAIL_VACUUM});
    -- Batches are compressed by clients; headers are read without the data.
    alter table ottla_tail_{{0}} alter data set storage external;
    create index ottla_tail_{{0}}_timestamps on ottla_tail_{{0}}
        (partition_id, timestamp, last_offset) where timestamp is not null
"""
_MAY_MAKE_TAILS = """
    select has_schema_privilege(current_schema(), 'CREATE') and (
        select bool_and(pg_has_role(relowner, 'USAGE')) from pg_class
        where relnamespace = current_schema()::regnamespace and relname ~ '^ottla_')
"""
_MAY_MAKE = """
    select found is not null, case when found is null
        then has_database_privilege(current_database(), 'CREATE')
        else has_schema_privilege(found, 'CREATE') end, current_user, current_database()
    from (select to_regnamespace(quote_ident(%(schema)s))::oid as found) s
"""
#: None of them without the others.
_NAMES = (
    "ottla_rows", "ottla_sessions", "ottla_fences", "ottla_brokers", "ottla_tails", "ottla_runs",
    "ottla_object_entries", "ottla_tail_1",
)  # fmt: skip


OBJECTS_URL = "select objects from ottla_store"
_SESSION = "select session from ottla_fences where node_id = %s"
_NEW_TAIL = "insert into ottla_tails (written) values (0) returning n"
#: The lock of the node id is held: there is no other process of it.
_NEW_FENCE = "insert into ottla_fences (node_id, session, seq, tail) values (%s, 0, 0, %s)"


def has_tables(connection: Rows, address: Address) -> bool:
    return _exists(connection, address, "ottla_store")


def check_may_make(connection: Rows, address: Address) -> None:
    """That there is no store is known. Raises StorageUnusable, and says what is to be granted."""
    [(schema_is_there, may, role, database)] = connection.execute(
        _MAY_MAKE, {"schema": address.schema}
    ).fetchall()
    if not may:
        where = f"schema {address.schema}" if schema_is_there else f"database {database}"
        raise StorageUnusable(
            f"there is no store, and {role} may not make one: grant create on {where} to {role}"
        )


def make(connection: Rows, address: Address) -> None:
    """Unless there is a store. Raises StorageForeign or StorageUnusable."""
    with connection.transaction():
        lock_tables(connection)
        if not has_tables(connection, address):
            for name in _NAMES:
                if _exists(connection, address, name):
                    raise StorageForeign(
                        f"schema {address.schema} has {name}, but no ottla_store: it is no store"
                    )
            check_may_make(connection, address)
            if not _is_known(connection, "to_regnamespace", address.schema):
                # Its role may be allowed to do so, or only to use one that is there.
                connection.execute(in_schema(_MAKE_SCHEMA, address))
            for statement in (*_MAKE, *MAKE_TAILS, *MAKE_OBJECTS):
                connection.execute(statement)
            connection.execute(
                "insert into ottla_store (id, format) values (%s, %s)", (uuid.uuid4().hex, FORMAT)
            )

    if not connection.execute(_MAY_MAKE_TAILS).fetchall()[0][0]:
        raise StorageUnusable(
            f"the role must own the tables in schema {address.schema}, and may have to create some"
        )


def fence_of(connection: Rows, node_id: int) -> int:
    """The session of a broker, which is new to the store perhaps. Raises psycopg.Error."""
    with connection.transaction():
        found = connection.execute(_SESSION, (node_id,)).fetchall()
        if not found:
            [(tail,)] = connection.execute(_NEW_TAIL).fetchall()
            make_tail(connection, tail)
            connection.execute(_NEW_FENCE, (node_id, tail))
            return 0
    return int(found[0][0])


def make_tail(connection: Rows, number: int) -> None:
    """In one round trip."""
    connection.execute(_MAKE_TAIL.format(number).encode(), prepare=False)


def entries_of(tail: int, object_name: str | None) -> str:
    """What has the entries of a tail, of an object without batches, for a statement."""
    if object_name is None:
        return f"ottla_tail_{tail}"
    return f"(select * from ottla_object_entries where tail = {tail})"


def lock_tables(connection: Rows) -> None:
    """In a transaction. Of two that start at once the second one waits."""
    connection.execute("select pg_advisory_xact_lock(hashtext('ottla'), hashtext('make'))")


def check(connection: Rows, address: Address, formats: tuple[int, ...]) -> str:
    """The id of the store. Raises StorageDamaged, StorageForeign or StorageOtherFormat."""
    if not has_tables(connection, address):
        raise StorageDamaged(f"there is no store in schema {address.schema}")
    found = connection.execute("select id, format from ottla_store").fetchall()
    if len(found) != 1:
        raise StorageForeign(f"ottla_store in schema {address.schema} has no row: it is no store")
    [(store_id, format_)] = found
    if format_ not in formats:
        more = "; a broker that starts migrates it" if format_ < FORMAT else ""
        raise StorageOtherFormat(
            f"it has format {format_}; this version of Ottla reads format {FORMAT} only{more}"
        )
    return str(store_id)


def objects_url(connection: Rows) -> str | None:
    """Where the objects of a store are; None: it has none."""
    [(url,)] = connection.execute(OBJECTS_URL).fetchall()
    return url if url is None else str(url)


def _exists(connection: Rows, address: Address, name: str) -> bool:
    return _is_known(connection, "to_regclass", f"{address.schema}.{name}")


def _is_known(connection: Rows, function: str, name: str) -> bool:
    found = connection.execute(f"select {function}(%s) is not null".encode(), (name,)).fetchall()
    return bool(found[0][0])
