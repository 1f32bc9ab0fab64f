"""The tables of a store: made and checked. All in one schema.

ottla_store      one row: the id of the store, the format of its tables, the version of the rows
                 that all brokers share, and the leader epoch of partitions that never had a leader
ottla_fences     of each broker that writes the session, and the number of its newest commit
ottla_brokers    of each broker when its lease ends, which version it has, and its addresses
ottla_sessions   the sessions that are over, each with the number of its last commit
ottla_rows       the rows of the state, by table and key, with their scopes; of those that all
                 brokers share the version in which they have changed, deleted ones too
ottla_entries    the batches of one partition and commit, under their last offset, with their
                 places in the timestamp index, and the largest timestamp of these
"""

from __future__ import annotations

import uuid

from infrastructure.storage.errors import (
    StorageDamaged,
    StorageForeign,
    StorageOtherFormat,
)
from infrastructure.storage.postgresql.address import Address
from infrastructure.storage.postgresql.server import Rows, in_schema

#: Changes with the tables.
FORMAT = 1

#: A key that is longer is cut and ends with its digest: an index of PostgreSQL takes 2,700 bytes.
LONGEST_KEY = 1000

_OTHERS = ("ottla_rows", "ottla_entries", "ottla_fences", "ottla_brokers", "ottla_sessions")
_MAKE_SCHEMA = "create schema {schema}"
_MAKE = (
    """create table ottla_store (
        one boolean primary key default true check (one),
        id text not null, format integer not null, version bigint not null default 0,
        epoch integer not null default 0)""",
    """create table ottla_fences (
        node_id integer primary key, session bigint not null, seq bigint not null
        ) with (fillfactor = 50)""",
    """create table ottla_brokers (
        node_id integer primary key, until timestamptz not null, is_fenced boolean not null,
        version bigint not null, client text not null, registration jsonb not null
        ) with (fillfactor = 50)""",
    "create table ottla_sessions (session bigint primary key, last_seq bigint not null)",
    """create table ottla_rows (
        "table" text collate "C" not null, place bytea not null, key bytea, value bytea,
        kind smallint not null, number bigint not null, version bigint,
        primary key ("table", place)) with (fillfactor = 80)""",
    "create index ottla_scopes on ottla_rows (kind, number) where kind <> 0",
    "create index ottla_versions on ottla_rows (version) where kind = 0",
    """create table ottla_entries (
        partition_id bigint not null, last_offset bigint not null, size integer not null,
        timestamp bigint, times bytea, headers bytea not null, data bytea not null,
        primary key (partition_id, last_offset))""",
    # Batches are compressed by clients; headers are read without the data.
    "alter table ottla_entries alter data set storage external",
    """create index ottla_timestamps on ottla_entries (partition_id, timestamp, last_offset)
        where timestamp is not null""",
    """alter table ottla_rows set (autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 1000)""",
)


def has_tables(connection: Rows, address: Address) -> bool:
    return _exists(connection, address, "ottla_store")


def make(connection: Rows, address: Address) -> None:
    """Unless there is a store. Raises StorageForeign."""
    with connection.transaction():
        # Of two that start at once the second one waits.
        connection.execute("select pg_advisory_xact_lock(hashtext('ottla'), hashtext('make'))")
        if not has_tables(connection, address):
            for name in _OTHERS:
                if _exists(connection, address, name):
                    raise StorageForeign(
                        f"schema {address.schema} has {name}, but no ottla_store: it is no store"
                    )
            if not _is_known(connection, "to_regnamespace", address.schema):
                # Its role may be allowed to do so, or only to use one that is there.
                connection.execute(in_schema(_MAKE_SCHEMA, address))
            for statement in _MAKE:
                connection.execute(statement)
            connection.execute(
                "insert into ottla_store (id, format) values (%s, %s)",
                (uuid.uuid4().hex, FORMAT),
            )


def check(connection: Rows, address: Address) -> str:
    """The id of the store. Raises StorageDamaged, StorageForeign or StorageOtherFormat."""
    if not has_tables(connection, address):
        raise StorageDamaged(f"there is no store in schema {address.schema}")
    found = connection.execute("select id, format from ottla_store").fetchall()
    if len(found) != 1:
        raise StorageForeign(f"ottla_store in schema {address.schema} has no row: it is no store")
    [(store_id, format_)] = found
    if format_ != FORMAT:
        raise StorageOtherFormat(
            f"it has format {format_}; this version of Ottla reads format {FORMAT} only"
        )
    return str(store_id)


def _exists(connection: Rows, address: Address, name: str) -> bool:
    return _is_known(connection, "to_regclass", f"{address.schema}.{name}")


def _is_known(connection: Rows, function: str, name: str) -> bool:
    found = connection.execute(f"select {function}(%s) is not null".encode(), (name,)).fetchall()
    return bool(found[0][0])
