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
from infrastructure.storage.postgresql.reading import Reading
from infrastructure.storage.postgresql.server import (
    Rows,
    Server,
    check_own_backends,
    check_server,
    reason_of,
)
from infrastructure.storage.postgresql.session import ALONE, PATIENCE_S, Session
from infrastructure.storage.postgresql.state_store import PostgresStateStore
from infrastructure.storage.postgresql.tables import check, make


def opened(
    place: str,
    flush: Flush,
    to_loop: ToLoop | None,
    patience_s: float = PATIENCE_S,
    read_only: bool = False,
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
        store_id = check(for_commits, address)
        session, contents = Session(server, ALONE, patience_s), Contents()
        session.begin(for_commits, read_only)
        contents.load(for_reads)
        if not read_only:
            for_commits.execute("update ottla_store set epoch = epoch + 1")
        [(epoch,)] = for_commits.execute("select epoch from ottla_store").fetchall()
        [(size_bytes,)] = for_reads.execute(
            "select pg_total_relation_size('ottla_entries') + pg_total_relation_size('ottla_rows')"
        ).fetchall()
    except BaseException as error:
        for connection in connections:
            connection.close()
        if isinstance(error, psycopg.Error):
            raise StorageUnusable(reason_of(error)) from error
        raise
    reading = Reading(server, for_reads, contents, to_loop)
    commit = PostgresCommit(session, contents, reading, to_loop)
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
            losses=epoch - 1,
        ),
        raise_leader_epoch=session.raise_leader_epoch,
        waits_for=session.waits_for,
    )
