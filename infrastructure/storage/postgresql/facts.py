"""Facts about a server and a store in it, for the doctor. Nothing in the database is changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from statistics import median
from typing import Any, NamedTuple

import psycopg

from infrastructure.storage.errors import StorageUnreachable, StorageUnusable
from infrastructure.storage.objects.opening import open_bucket
from infrastructure.storage.postgresql.address import Address, parse_address
from infrastructure.storage.postgresql.copies import COPIES
from infrastructure.storage.postgresql.leases import leases
from infrastructure.storage.postgresql.migrations import STEPS
from infrastructure.storage.postgresql.server import (
    Rows,
    Server,
    check_own_backends,
    check_server,
    reason_of,
)
from infrastructure.storage.postgresql.tables import (
    FORMAT,
    check,
    check_may_make,
    has_tables,
    objects_url,
)

#: Of a broker: for commits, reads, and the watch; at times to drop tails, to write objects, and to
#: read rows of other brokers.
CONNECTIONS = 6
_ROUND_TRIPS = 9


class ServerFacts(NamedTuple):
    version: str
    #: Of this role and database.
    synchronous_commit: str
    #: Empty: commits wait for no standby.
    synchronous_standby_names: str
    #: Connected now. Another role may see that there are standbys, and not which.
    synchronous_standbys: int
    #: Of each acknowledged record.
    copies: int
    hidden_standbys: int
    #: For brokers, by the limits of the server, this role, and this database.
    connections: int
    autovacuum: bool
    #: Of what this role may see.
    longest_transaction_s: float
    round_trip_s: float
    #: Its clock before that of this machine.
    ahead_s: float


class StoreFacts(NamedTuple):
    format: int
    #: Of this version; older ones are migrated.
    newest_format: int
    #: Node ids.
    alive: Sequence[int]
    fenced: Sequence[int]


class BucketFacts(NamedTuple):
    """Of the store, or, as long as there is none, of the URL."""

    #: Empty if the URL does not fit the store.
    shown: str
    #: Why it cannot be used now.
    problem: str | None


class Facts(NamedTuple):
    server: ServerFacts
    #: None: there is no store in the schema yet.
    store: StoreFacts | None
    #: None: batches are in the database only.
    bucket: BucketFacts | None
    #: Why a start could not make a store where there is none.
    not_made: str | None = None


_FACTS = f"""
    with others as (
        select usename, datname from pg_stat_activity where backend_type = 'client backend'
            and pid <> pg_backend_pid() and coalesce(application_name, '') !~ '^ottla ')
    select current_setting('server_version'), current_setting('synchronous_commit'),
        current_setting('synchronous_standby_names'),
        (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')),
        {COPIES},
        (select count(*) from pg_stat_replication where sync_state is null),
        (select least(
            current_setting('max_connections')::int
                - current_setting('superuser_reserved_connections')::int
                - coalesce(current_setting('reserved_connections', true)::int, 0)
                - (select count(*) from others),
            nullif(rolconnlimit, -1) - (select count(*) from others where usename = rolname),
            nullif(datconnlimit, -1) - (select count(*) from others o where o.datname = d.datname))
            from pg_roles, pg_database d
            where rolname = current_user and d.datname = current_database()),
        current_setting('autovacuum') = 'on',
        (select coalesce(extract(epoch from max(clock_timestamp() - xact_start)), 0)::float8
            from pg_stat_activity where datname = current_database()
            and pid <> pg_backend_pid())
"""
_CLOCK = "select extract(epoch from clock_timestamp())::float8"


def examined(place: str) -> Facts:
    """What follows `postgresql://`. Raises StorageUnusable if a broker could not use it."""
    address = parse_address(place)
    server = Server(address, "commit")
    try:
        with closing(server.connect()) as connection, closing(server.connect()) as other:
            check_server(connection)
            check_own_backends(connection, other)
            facts, store = _server_facts(connection), _store_facts(connection, address)
            not_made = None if store is not None else _why_not_made(connection, address)
            return Facts(facts, store, _bucket_facts(connection, address, store), not_made)
    except psycopg.Error as error:
        # What the server itself refuses has a code.
        is_reached = error.sqlstate is not None
        kind = StorageUnusable if is_reached else StorageUnreachable
        raise kind(reason_of(error)) from error


def _server_facts(connection: Rows) -> ServerFacts:
    [found] = connection.execute(_FACTS, prepare=False).fetchall()
    taken_s, aheads_s = [], []
    for _ in range(_ROUND_TRIPS):
        began_s, began = time.time(), time.perf_counter()
        [(there_s,)] = connection.execute(_CLOCK, prepare=False).fetchall()
        took_s = time.perf_counter() - began
        taken_s.append(took_s)
        aheads_s.append(there_s - began_s - took_s / 2)
    return ServerFacts._make((*found, median(taken_s), median(aheads_s)))


def _store_facts(connection: Rows, address: Address) -> StoreFacts | None:
    if not has_tables(connection, address):
        return None
    check(connection, address, (FORMAT, *STEPS))
    [(format_,)] = connection.execute("select format from ottla_store").fetchall()
    found: Sequence[Any] = leases(connection)[1] if format_ == FORMAT else ()
    over = [one.node_id for one in found if one.is_fenced or one.is_over]
    alive = [one.node_id for one in found if one.node_id not in over]
    return StoreFacts(format_, FORMAT, alive, over)


def _why_not_made(connection: Rows, address: Address) -> str | None:
    try:
        check_may_make(connection, address)
    except StorageUnusable as unusable:
        return str(unusable)
    return None


def _bucket_facts(
    connection: Rows, address: Address, store: StoreFacts | None
) -> BucketFacts | None:
    has_rows = store is not None and store.format == FORMAT
    shown = ""
    try:
        where = address.objects_of(objects_url(connection) if has_rows else None)
        if where is None:
            return None
        shown = where.shown
        open_bucket(where).check()
    except StorageUnusable as unusable:
        return BucketFacts(shown, str(unusable))
    return BucketFacts(shown, None)
