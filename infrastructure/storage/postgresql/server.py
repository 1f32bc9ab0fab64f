"""Connections to PostgreSQL, and what its errors mean. See docs/internals/postgresql.md."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from typing import Any, TypeAlias

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import conninfo_to_dict

from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.postgresql.address import Address
from infrastructure.storage.postgresql.arrays import take_arrays

#: Its rows are tuples.
Rows: TypeAlias = Connection[tuple[Any, ...]]

OLDEST_VERSION = 14
#: For each host: a broker that waits for one that is gone must not lose its lease.
CONNECT_TIMEOUT_S = 3
#: Characters: a name of 64 is cut.
_HOST = 36
#: A client that is gone, on both sides: a server keeps locks for it until then.
_SETTINGS = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "15000",
    "idle_in_transaction_session_timeout": "15000",
    # Of the role or the database; a commit that waits is not refused, and a start takes its time.
    "idle_session_timeout": "0",
    "lock_timeout": "0",
    "statement_timeout": "0",
    "default_transaction_isolation": "read committed",
    # As the driver reads timestamps and text.
    "DateStyle": "ISO",
    "client_encoding": "UTF8",
    # A commit that did not wait for the standby is one.
    "client_min_messages": "warning",
    # All statements look up keys; of a table that is new the planner would guess otherwise.
    "enable_seqscan": "off",
    # A plan of a small table would read all of it, and stay while it grows.
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
}
_LIBPQ: dict[str, Any] = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}


class Server:
    """What connects, always alike."""

    def __init__(self, address: Address, flush: str) -> None:
        """Raises StorageUnusable for a URL that libpq does not read."""
        self.address = address
        #: Processes in containers may have the same number and host name.
        self._token = secrets.token_hex(4)
        self._libpq = {**_LIBPQ, **_parameters(address)}
        hosts = (self._libpq.get(one, "") for one in ("host", "hostaddr"))
        self._has_several_hosts = any("," in one for one in hosts)
        self._settings = {**_SETTINGS, "search_path": address.schema}
        if flush == "os":
            self._settings["synchronous_commit"] = "off"

    def connect(self, again: bool = False) -> Rows:
        """Of several hosts to the one that can be written; `again`: the primary may be another one
        by now. Raises psycopg.Error.
        """
        name = f"ottla {os.getpid()} on {socket.gethostname()[:_HOST]} {self._token}"
        options = {**self._libpq, "application_name": name}
        if again or self._has_several_hosts:
            options["target_session_attrs"] = "read-write"
        connection = psycopg.connect(autocommit=True, **options)
        try:
            connection.prepare_threshold = 0
            take_arrays(connection)
            calls = ", ".join(["set_config(%s, %s, false)"] * len(self._settings))
            values = [one for each in self._settings.items() for one in each]
            connection.execute(f"select {calls}".encode(), values, prepare=False)
        except BaseException:
            connection.close()
            raise
        return connection

    def failed(self, what: str, error: Exception) -> StorageFailed:
        return StorageFailed(f"PostgreSQL {what}: {reason_of(error)}")


def _parameters(address: Address) -> dict[str, Any]:
    try:
        return conninfo_to_dict(address.url)
    except psycopg.ProgrammingError as error:
        reason = reason_of(error)
        what, _, quoted = reason.partition(': "')  # of the URL, which may have a password
        raise StorageUnusable(reason if quoted.rstrip('"') in address.shown else what) from None


def check_server(connection: Rows) -> None:
    """Raises StorageUnusable for a server that cannot have a store."""
    version = connection.info.server_version // 10_000
    if version < OLDEST_VERSION:
        raise StorageUnusable(
            f"the server is PostgreSQL {version}; Ottla needs {OLDEST_VERSION} or newer"
        )
    [(is_standby,)] = connection.execute("select pg_is_in_recovery()").fetchall()
    if is_standby:
        raise StorageUnusable(
            "the server is a standby, which cannot be written; name the primary, or all of them"
        )
    # Text of a query is bytes then.
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StorageUnusable(f"the database has encoding {encoding}; Ottla needs UTF8")


_BACKEND = "select pg_backend_pid()"


def check_own_backends(*connections: Rows) -> None:
    """Raises StorageUnusable if a pool has given them one backend, or changes it."""
    first, again = (
        [one.execute(_BACKEND, prepare=False).fetchall()[0][0] for one in connections]
        for _ in range(2)
    )
    if first != again or len(set(first)) < len(first):
        raise StorageUnusable(
            "the address is a pool that shares connections after each transaction; name the "
            "server itself, or a pool in session mode"
        )


#: The server may not have noticed that its client is gone: it would keep its locks.
_END_BACKEND = """
    select pg_terminate_backend(pid, 1000) from pg_stat_activity
    where pid = %s and pid <> pg_backend_pid()
    and application_name = current_setting('application_name')
"""


def end_backend(connection: Rows, pid: int) -> None:
    """Of a former connection of this process. Raises psycopg.Error."""
    with suppress(psycopg.errors.InsufficientPrivilege):
        connection.execute(_END_BACKEND, (pid,))


#: The server ends or has lost the connection; or it is no primary any more.
_LOST = ("57P", "08", "25006")


def is_lost(error: psycopg.Error, connection: Rows) -> bool:
    """Whether the connection is of no use any more: what was sent may have been committed.

    Otherwise the server refused the statement, and changed nothing.
    """
    return connection.closed or error.sqlstate is None or error.sqlstate.startswith(_LOST)


def reason_of(error: Exception) -> str:
    """One line, without values."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def in_schema(statement: str, address: Address) -> sql.Composed:
    return sql.SQL(statement).format(schema=sql.Identifier(address.schema))
