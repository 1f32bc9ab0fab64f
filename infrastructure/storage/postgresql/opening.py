"""Opens a store in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg

from infrastructure.storage.engine import Joining, Storage, StorageInfo, ToLoop
from infrastructure.storage.errors import StorageInUse, StorageUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.objects.address import ObjectsAddress
from infrastructure.storage.objects.opening import open_bucket
from infrastructure.storage.postgresql import leases
from infrastructure.storage.postgresql.address import Address, parse_address
from infrastructure.storage.postgresql.commit import PostgresCommit
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.copies import PostgresCopies
from infrastructure.storage.postgresql.fence import ALONE
from infrastructure.storage.postgresql.log_store import PostgresLogStore
from infrastructure.storage.postgresql.migrations import STEPS, migrate
from infrastructure.storage.postgresql.objects import PostgresObjects
from infrastructure.storage.postgresql.reading import Reading
from infrastructure.storage.postgresql.row_reading import RowReading
from infrastructure.storage.postgresql.sealed_log import PostgresSealedLog
from infrastructure.storage.postgresql.server import (
    Rows,
    Server,
    check_own_backends,
    check_server,
    reason_of,
)
from infrastructure.storage.postgresql.session import PATIENCE_S, Session
from infrastructure.storage.postgresql.state_store import PostgresStateStore
from infrastructure.storage.postgresql.tables import FORMAT, check, make, objects_url
from infrastructure.storage.postgresql.tails import TAIL_BYTES
from infrastructure.storage.postgresql.timeline import first_epoch, timeline_of
from infrastructure.storage.postgresql.watch import Watch

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

BucketAt = Callable[[ObjectsAddress], "Bucket"]

_SIZE = """
    select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname ~ '^ottla_'
"""
_NAME = """
    update ottla_store
    set objects = %(url)s, delete_delay_ms = coalesce(%(delay)s, delete_delay_ms)
    where coalesce(objects, %(url)s) = %(url)s
"""


def opened(
    place: str,
    flush: Flush,
    to_loop: ToLoop | None,
    patience_s: float = PATIENCE_S,
    read_only: bool = False,
    tail_bytes: int = TAIL_BYTES,
    bucket_at: BucketAt = open_bucket,
) -> Storage:
    """For a process that has the store alone. Raises StorageUnusable."""
    address = parse_address(place)
    server = Server(address, flush)
    with _connected(server, 2) as connections:
        for_commits, for_reads = connections
        store_id = _prepared(connections, address, read_only)
        session, contents = Session(server, ALONE, patience_s), Contents(None, tail_bytes)
        session.begin(for_commits, read_only)
        _, found = leases.leases(for_commits)
        for lease in found:
            if lease.session and not lease.is_over:
                raise StorageInUse(f"the database is in use by broker {lease.node_id}")
        if not read_only:
            leases.end_brokers(for_commits)
        bucket = _bucket(for_commits, address, contents, bucket_at, read_only)
        if bucket is not None and not read_only:
            _name(for_commits, address, bucket)
        contents.load(for_reads, ALONE)
        if not read_only:
            least = first_epoch(timeline_of(for_commits))
            for_commits.execute("update ottla_store set epoch = greatest(epoch, %s) + 1", (least,))
        [(epoch,)] = for_commits.execute("select epoch from ottla_store").fetchall()
        [(size_bytes,)] = for_reads.execute(_SIZE).fetchall()
    reading = Reading(server, for_reads, session, contents, to_loop, bucket)
    to_objects = address.commits_to_objects
    commit = PostgresCommit(
        server, session, contents, reading, to_loop, bucket=bucket, commits_to_objects=to_objects
    )
    # The database may have lost commits since the last start: only by a new leader epoch do clients
    # notice that a log was cut.
    info = _info(size_bytes, flush, store_id, epoch - 1)
    return _storage(info, server, session, contents, reading, commit, bucket)


def joined(
    place: str,
    flush: Flush,
    to_loop: ToLoop,
    joining: Joining,
    tail_bytes: int = TAIL_BYTES,
    bucket_at: BucketAt = open_bucket,
) -> Storage:
    """For one of several brokers. Raises StorageUnusable."""
    address = parse_address(place)
    server = Server(address, flush)
    node = joining.node
    with _connected(server, 3) as connections:
        for_commits, for_reads, for_watch = connections
        store_id = _prepared(connections, address, read_only=False)
        session, contents = Session(server, node.node_id), Contents(node.node_id, tail_bytes)
        # It may take long: before there is anything for which others wait.
        bucket = _bucket(for_commits, address, contents, bucket_at)
        session.begin(for_commits)
        watch = Watch(server, for_watch, session, contents, joining, to_loop)
        try:
            watch.begin()
            leases.end_alone(for_commits)
            if bucket is not None:
                _name(for_commits, address, bucket)
            contents.load(for_reads, node.node_id)
            [(epoch,)] = for_commits.execute("select epoch from ottla_store").fetchall()
            [(size_bytes,)] = for_reads.execute(_SIZE).fetchall()
        except BaseException:
            watch.close()
            raise
    watch.loaded()
    reading = Reading(server, for_reads, session, contents, to_loop, bucket)
    row_reading = reading.row_reading = RowReading(server, to_loop)
    copies = PostgresCopies(reading.rows, to_loop, joining.copies)
    to_objects = address.commits_to_objects
    commit = PostgresCommit(
        server, session, contents, reading, to_loop, watch, bucket, copies, to_objects
    )
    info = _info(size_bytes, flush, store_id, epoch)
    storage = _storage(info, server, session, contents, reading, commit, bucket)
    storage.membership, storage.cluster_changes = watch.membership, watch.changes
    storage.copies = copies
    storage.sealed_log = PostgresSealedLog(contents, reading, to_loop)
    storage.fetch_row = row_reading.fetch
    return storage


@contextmanager
def _connected(server: Server, count: int) -> Iterator[list[Rows]]:
    """Closes them if anything fails."""
    connections: list[Rows] = []
    try:
        for _ in range(count):
            connections.append(server.connect())
        yield connections
    except BaseException as error:
        for connection in connections:
            connection.close()
        if isinstance(error, psycopg.Error):
            raise StorageUnusable(reason_of(error)) from error
        raise


def _prepared(connections: list[Rows], address: Address, read_only: bool) -> str:
    """The id of the store."""
    check_own_backends(*connections)
    check_server(connections[0])
    connection = connections[0]
    if not read_only:
        make(connection, address)
    store_id = check(connection, address, (FORMAT,) if read_only else (FORMAT, *STEPS))
    if not read_only:
        migrate(connection)
    return store_id


def _bucket(
    connection: Rows,
    address: Address,
    contents: Contents,
    bucket_at: BucketAt,
    read_only: bool = False,
) -> Bucket | None:
    """Raises StorageUnusable."""
    known = objects_url(connection)
    where = address.objects_of(known)
    if where is None:
        return None
    bucket = bucket_at(where)
    if known is None and not read_only:
        bucket.check()
    contents.tails.local_bytes = address.local_bytes
    return bucket


def _name(connection: Rows, address: Address, bucket: Bucket) -> None:
    """Raises StorageUnusable if another process has named another one meanwhile."""
    values = {"url": bucket.address.url, "delay": address.delete_delay_ms}
    if not connection.execute(_NAME, values).rowcount:
        address.objects_of(objects_url(connection))


def _info(size_bytes: int, flush: Flush, store_id: str, losses: int) -> StorageInfo:
    return StorageInfo(
        "postgresql",
        None,
        size_bytes,
        flush,
        store_id,
        live_bytes=size_bytes,
        losses=losses,
    )


def _storage(
    info: StorageInfo,
    server: Server,
    session: Session,
    contents: Contents,
    reading: Reading,
    commit: PostgresCommit,
    bucket: Bucket | None,
) -> Storage:
    objects = None
    if bucket is not None:
        objects = PostgresObjects(bucket, server, info.store_id, contents, commit)
    return Storage(
        PostgresLogStore(contents, reading),
        PostgresStateStore(contents),
        commit,
        info,
        raise_leader_epoch=session.raise_leader_epoch,
        keep_up=commit.keep_up,
        waits_for=commit.waits_for,
        not_dropped=commit.not_dropped,
        send_on_loop=commit.send_on_loop,
        repeated_commits=commit.repeated,
        sessions_taken=lambda: session.taken,
        objects=objects,
    )
