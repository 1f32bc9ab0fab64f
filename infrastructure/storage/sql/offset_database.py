"""The database of committed offsets: its tables and statements. For one thread.

    ottla_offsets   a row for each partition of each group
    ottla_store     format, the id of the store whose offsets these are, the id of this database,
                    whether that store has handed them over, and the number of the newest offsets
                    from its outbox that are here

Names are bytes, since they may hold what a text column of PostgreSQL does not take, and the key is
a digest, since they may be longer than its index takes.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    NullPool,
    String,
    Table,
    bindparam,
    create_engine,
    event,
    inspect,
    make_url,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
)

from application.ports.offset_repository import OffsetRow
from domain.errors import StorageFailed
from domain.groups.offsets import CommittedOffset
from infrastructure.storage.errors import (
    StorageForeign,
    StorageOtherFormat,
    StorageUnusable,
)
from infrastructure.storage.flush import Flush
from infrastructure.storage.offsets_home import KnownDatabase, where_they_are

#: Changes with the tables: a database in another format is refused.
FORMAT = 1

ROWS_PER_STATEMENT = 100
ROWS_PER_READ = 1000
CONNECT_TIMEOUT_S = 10
#: Another client may have locked the table.
STATEMENT_TIMEOUT_MS = 10_000
#: Detects a machine that is gone, with and without data in flight.
UNREACHABLE = {"tcp_user_timeout": 15_000, "keepalives_idle": 10, "keepalives_interval": 5}
#: While another process has locked the file.
SQLITE_WAIT_S = 5.0

_TABLES = MetaData()
_OFFSETS = Table(
    "ottla_offsets",
    _TABLES,
    Column("place", LargeBinary(32), primary_key=True),
    Column("group_id", LargeBinary, nullable=False),
    Column("topic", LargeBinary, nullable=False),
    Column("partition", Integer, nullable=False),
    Column("committed_offset", BigInteger, nullable=False),
    Column("leader_epoch", Integer, nullable=False),
    Column("metadata", LargeBinary, nullable=False),
    Column("commit_timestamp_ms", BigInteger, nullable=False),
    Column("expire_timestamp_ms", BigInteger),
    Column("topic_id", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
_STORE = Table(
    "ottla_store",
    _TABLES,
    Column("name", String(64), primary_key=True),
    Column("value", String(200), nullable=False),
)

_SQLITE = "sqlite://"

_FORMAT, _STORE_ID, _ID, _HANDED_OVER = "format", "store", "id", "handed_over"
_APPLIED_THROUGH = "applied_through"

#: Group id, topic, partition.
Place = tuple[str, str, int]


class OffsetDatabase:
    def __init__(self, url: str, store_id: str, flush: Flush) -> None:
        self._store_id = store_id
        self._connection: Connection | None = None
        #: This one, once it is open.
        self.database: KnownDatabase | None = None
        parsed = _parsed(url)
        self._place = _shown(parsed)
        self._is_sqlite = parsed.get_backend_name() == "sqlite"
        if self._is_sqlite:
            _make_private(parsed.database or "")
            durability = "FULL" if flush == "commit" else "NORMAL"
            setup = ["PRAGMA journal_mode = WAL", f"PRAGMA synchronous = {durability}"]
            arguments: dict[str, Any] = {"timeout": SQLITE_WAIT_S}
        else:
            setup = [f"SET statement_timeout = {STATEMENT_TIMEOUT_MS}"]
            setup += [] if flush == "commit" else ["SET synchronous_commit = off"]
            arguments = {"connect_timeout": CONNECT_TIMEOUT_S, **UNREACHABLE}
        self._engine = _engine(parsed, arguments, setup)
        insert = (sqlite if self._is_sqlite else postgresql).insert
        stated = insert(_OFFSETS)
        others = [column.name for column in _OFFSETS.columns if column.name != "place"]
        self._upsert = stated.on_conflict_do_update(
            index_elements=["place"], set_={name: stated.excluded[name] for name in others}
        )
        self._delete = _OFFSETS.delete().where(_OFFSETS.c.place == bindparam("gone"))
        named = insert(_STORE)
        self._name = named.on_conflict_do_nothing()
        self._rename = named.on_conflict_do_update(
            index_elements=["name"], set_={"value": named.excluded.value}
        )

    def open(self, known: KnownDatabase | None, what: str = "be read") -> None:
        """`known` is where the offsets are; None: here from now on, once they are taken over.

        Raises StorageUnusable for good, StorageFailed where it may go better later.
        """
        with self._judging(what):
            connection = self._engine.connect()
            try:
                with connection.begin():
                    if known is None:
                        _TABLES.create_all(connection)
                        self._claim(connection)
                    self._identify(connection, known)
            except BaseException:
                connection.close()
                raise
            self._connection = connection

    def _claim(self, connection: Connection) -> None:
        facts = {_FORMAT: str(FORMAT), _STORE_ID: self._store_id, _ID: uuid.uuid4().hex}
        for name, value in facts.items():
            connection.execute(self._name, {"name": name, "value": value})

    def _identify(self, connection: Connection, known: KnownDatabase | None) -> None:
        if not inspect(connection).has_table(_STORE.name):
            assert known is not None
            raise StorageForeign(f"there are none; {where_they_are(known)}")
        found = _facts(connection)
        if int(found.get(_FORMAT, FORMAT)) != FORMAT:
            raise StorageOtherFormat(
                f"it has format {found[_FORMAT]}; this version of Ottla reads format {FORMAT} only"
            )
        if found.get(_STORE_ID) != self._store_id:
            raise StorageForeign(
                f"it holds the committed offsets of another store ({found.get(_STORE_ID)}, and "
                f"this is {self._store_id})"
            )
        if known is not None and found.get(_ID) != known.database_id:
            raise StorageForeign(f"these are others; {where_they_are(known)}")
        self.database = KnownDatabase(found[_ID], self._place)

    def take_over(self, rows: Sequence[OffsetRow]) -> None:
        """What the store has, and nothing else, is here, durably, whatever `flush` is; raises as
        `open` does.
        """
        connection = self._connected("be stored")
        rows_to_write = [_values(row[:3], row[3]) for row in rows]
        with self._judging("be stored"), connection.begin():
            durable = (
                "PRAGMA synchronous = FULL" if self._is_sqlite else "SET synchronous_commit = on"
            )
            connection.connection.cursor().execute(durable)
            if _HANDED_OVER in _facts(connection):
                raise StorageForeign(
                    "it has old committed offsets of this store: "
                    "drop its tables (ottla_offsets, ottla_store) if they are not needed"
                )
            connection.execute(_OFFSETS.delete())
            _execute(connection, self._upsert, rows_to_write)
        self.disconnect()  # the next connection is as durable as it should be

    def handed_over(self) -> None:
        """The store names this database: from now on its rows count."""
        connection = self._connected("be stored")
        with self._judging("be stored"), connection.begin():
            connection.execute(self._name, {"name": _HANDED_OVER, "value": "yes"})

    def rows(self) -> Iterator[list[OffsetRow]]:
        """All, in parts; raises as `open` does."""
        connection = self._connected("be read")
        with self._judging("be read"), connection.begin():
            found = connection.execute(
                select(_OFFSETS), execution_options={"yield_per": ROWS_PER_READ}
            )
            for part in found.mappings().partitions():
                yield [_row(one) for one in part]

    def applied_through(self) -> int:
        """Raises as `open` does."""
        connection = self._connected("be read")
        with self._judging("be read"), connection.begin():
            return int(_facts(connection).get(_APPLIED_THROUGH, 0))

    def write(
        self, changes: Mapping[Place, CommittedOffset | None], through: int | None = None
    ) -> None:
        """In one transaction with the number `through`; raises StorageFailed, and StorageUnusable
        where this is not the database any more. Reconnects once: all statements are idempotent.
        """
        rows_to_write = [_values(place, one) for place, one in changes.items() if one is not None]
        gone = [{"gone": _digest(*place)} for place, one in changes.items() if one is None]
        for another_try in (True, False):
            had_been_there = self._connection is not None
            connection = self._connected("be stored")
            try:
                with connection.begin():
                    _execute(connection, self._upsert, rows_to_write)
                    _execute(connection, self._delete, gone)
                    if through is not None:
                        progress = {"name": _APPLIED_THROUGH, "value": str(through)}
                        connection.execute(self._rename, progress)
                return
            except SQLAlchemyError as error:
                was_lost = isinstance(error, DBAPIError) and error.connection_invalidated
                self.disconnect()
                if not (another_try and was_lost and had_been_there):
                    raise storage_failed("be stored", error) from error

    def _connected(self, what: str) -> Connection:
        """A connection that was lost is made again, to the same database and to no other."""
        if self._connection is None:
            self.open(self.database, what)
        assert self._connection is not None
        return self._connection

    @contextmanager
    def _judging(self, what: str) -> Iterator[None]:
        """Raises StorageFailed if a retry may succeed, else StorageUnusable."""
        try:
            yield
        except SQLAlchemyError as error:
            self.disconnect()
            if self._may_pass(error):
                raise storage_failed(what, error) from error
            raise StorageUnusable(_reason(error)) from error
        except (ValueError, TypeError) as damage:
            self.disconnect()
            raise StorageUnusable(f"what is in it cannot be read: {damage}") from damage

    def _may_pass(self, error: SQLAlchemyError) -> bool:
        """A server may not be up yet, a file may be locked."""
        if not isinstance(error, DBAPIError):
            return False
        if self._is_sqlite:
            code = getattr(error.orig, "sqlite_errorcode", 0)
            return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        return isinstance(error, OperationalError) or error.connection_invalidated

    def disconnect(self) -> None:
        """The next use connects again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except SQLAlchemyError:
                pass  # it was lost already


def _parsed(url: str) -> URL:
    """What follows `sqlite://` is a path as it is: SQLAlchemy would take it for a relative one."""
    if url.startswith(_SQLITE):
        return URL.create("sqlite", database=url.removeprefix(_SQLITE))
    try:
        return make_url(url).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError) as error:
        raise StorageUnusable("the URL cannot be understood") from error


def _shown(url: URL) -> str:
    """Without secrets."""
    if url.get_backend_name() == "sqlite":
        return f"{_SQLITE}{url.database}"
    # Its query may hold a password, too.
    plain = URL.create("postgresql", url.username, None, url.host, url.port, url.database)
    return plain.render_as_string()


def _facts(connection: Connection) -> dict[str, str]:
    found = connection.execute(select(_STORE.c.name, _STORE.c.value))
    return {row.name: row.value for row in found}


def _make_private(file: str) -> None:
    """SQLite would make it readable for others; it reports other problems itself."""
    with suppress(OSError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))


def _engine(url: URL, arguments: dict[str, Any], setup: list[str]) -> Engine:
    try:
        engine = create_engine(
            url, poolclass=NullPool, hide_parameters=True, connect_args=arguments
        )
    except (NoSuchModuleError, ImportError) as error:
        raise StorageUnusable(str(error)) from error

    @event.listens_for(engine, "connect")
    def connected(connection: Any, record: object) -> None:
        cursor = connection.cursor()
        for statement in setup:
            cursor.execute(statement)
        cursor.close()
        connection.commit()

    return engine


def _execute(connection: Connection, statement: Any, rows: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        connection.execute(statement, rows[start : start + ROWS_PER_STATEMENT])


def _digest(group_id: str, topic: str, partition: int) -> bytes:
    group = group_id.encode()
    named = b"%d %d %b%b" % (len(group), partition, group, topic.encode())
    return hashlib.sha256(named).digest()


def _values(place: Place, committed: CommittedOffset) -> dict[str, Any]:
    group_id, topic, partition = place
    return {
        "place": _digest(group_id, topic, partition),
        "group_id": group_id.encode(),
        "topic": topic.encode(),
        "partition": partition,
        "committed_offset": committed.offset,
        "leader_epoch": committed.leader_epoch,
        "metadata": committed.metadata.encode(),
        "commit_timestamp_ms": committed.commit_timestamp_ms,
        "expire_timestamp_ms": committed.expire_timestamp_ms,
        "topic_id": committed.topic_id,
    }


def _row(found: Mapping[Any, Any]) -> OffsetRow:
    committed = CommittedOffset(
        found["committed_offset"],
        found["leader_epoch"],
        bytes(found["metadata"]).decode(),
        found["commit_timestamp_ms"],
        found["expire_timestamp_ms"],
        bytes(found["topic_id"]),
    )
    return (
        bytes(found["group_id"]).decode(),
        bytes(found["topic"]).decode(),
        found["partition"],
        committed,
    )


def storage_failed(what: str, error: Exception) -> StorageFailed:
    return StorageFailed(f"Committed offsets cannot {what}: {_reason(error)}")


def _reason(error: Exception) -> str:
    """One line, without the values."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__
