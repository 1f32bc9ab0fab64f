"""Opens a store in PostgreSQL."""

from __future__ import annotations

import psycopg

from infrastructure.storage.engine import Storage, StorageInfo, ToLoop
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.postgresql.address import parse_address
from infrastructure.storage.postgresql.commit import PostgresCommit
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.log_store import PostgresLogStore
from infrastructure.storage.postgresql.migrations import STEPS, migrate
from infrastructure.storage.postgresql.reading import Reading
from infrastructure.storage.postgresql.server import (
    Rows,
    Server,
    check_own_backends,
    check_server,
    reason_of,
)
from infrastructure.storage.postgresql.session import PATIENCE_S, Session
from infrastructure.storage.postgresql.state_store import PostgresStateStore
from infrastructure.storage.postgresql.tables import FORMAT, check, make
from infrastructure.storage.postgresql.tails import TAIL_BYTES

_SIZE = """
    select sum(pg_total_relation_size(oid))::bigint from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname ~ '^ottla_'
"""


def opened(
    place: str,
    flush: Flush,
    to_loop: ToLoop | None,
    patience_s: float = PATIENCE_S,
    read_only: bool = False,
    tail_bytes: int = TAIL_BYTES,
) -> Storage:
    """Raises StorageUnusable."""
    address = parse_address(place)
    server = Server(address, flush)
    connections: list[Rows] = []
    try:
        for _ in range(2):
            connections.append(server.connect())
        for_commits, for_reads = connections
        check_own_backends(*connections)
        check_server(for_commits, address)
        if not read_only:
            make(for_commits, address)
        store_id = check(for_commits, address, (FORMAT,) if read_only else (FORMAT, *STEPS))
        session, contents = Session(server, patience_s), Contents(tail_bytes)
        session.begin(for_commits, read_only)
        if not read_only:
            migrate(for_commits)
        contents.load(for_reads)
        if not read_only:
            for_commits.execute("update ottla_store set starts = starts + 1")
        [(starts,)] = for_commits.execute("select starts from ottla_store").fetchall()
        [(size_bytes,)] = for_reads.execute(_SIZE).fetchall()
    except BaseException as error:
        for connection in connections:
            connection.close()
        if isinstance(error, psycopg.Error):
            raise StorageUnusable(reason_of(error)) from error
        raise
    reading = Reading(server, for_reads, contents, to_loop)
    commit = PostgresCommit(server, session, contents, reading, to_loop)
    return Storage(
        PostgresLogStore(contents, reading),
        PostgresStateStore(contents),
        commit,
        StorageInfo(
            "postgresql",
            None,
            size_bytes,
            flush,
            store_id,
            live_bytes=size_bytes,
            # The database may have lost commits since then: only by a new leader epoch do clients
            # notice that a log was cut.
            losses=starts - 1,
        ),
        raise_leader_epoch=session.raise_leader_epoch,
        waits_for=session.waits_for,
    )
