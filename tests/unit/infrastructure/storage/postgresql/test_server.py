from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest
from psycopg import errors

from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.postgresql.address import parse_address
from infrastructure.storage.postgresql.server import (
    Server,
    check_own_backends,
    check_server,
    is_lost,
)


class FakeConnection:
    """A server with this version and encoding; `standby`: it replicates another."""

    def __init__(self, version: int = 140_000, encoding: str = "UTF8", standby: bool = False):
        self.server_version = version
        self._encoding, self._standby = encoding, standby

    @property
    def info(self) -> FakeConnection:
        return self

    def parameter_status(self, name: str) -> str:
        assert name == "server_encoding"
        return self._encoding

    def execute(self, statement: str) -> FakeConnection:
        assert statement == "select pg_is_in_recovery()"
        return self

    def fetchall(self) -> list[tuple[bool]]:
        return [(self._standby,)]


def check(connection: Any) -> None:
    check_server(connection)


def test_a_server_that_can_have_a_store() -> None:
    check(FakeConnection())


@pytest.mark.parametrize(
    "connection, why",
    [
        (
            FakeConnection(version=130_014),
            "the server is PostgreSQL 13; Ottla needs 14 or newer",
        ),
        (
            FakeConnection(standby=True),
            "the server is a standby, which cannot be written; name the primary, or all of them",
        ),
        (
            FakeConnection(encoding="LATIN1"),
            "the database has encoding LATIN1; Ottla needs UTF8",
        ),
    ],
)
def test_a_server_that_cannot_is_refused(connection: FakeConnection, why: str) -> None:
    with pytest.raises(StorageUnusable) as refusal:
        check(connection)
    assert str(refusal.value) == why


@pytest.mark.parametrize(
    "place, why",
    [
        ("me:hunter%2@h/db", "invalid percent-encoded token"),
        ("me:hunter2@h/db?sslmod=x", 'invalid URI query parameter: "sslmod"'),
        ("me@h%2/db", 'invalid percent-encoded token: "h%2"'),
    ],
)
def test_a_url_that_libpq_does_not_read_is_refused_without_password(place: str, why: str) -> None:
    with pytest.raises(StorageUnusable) as refusal:
        Server(parse_address(place), "commit")
    assert str(refusal.value) == why


def connection(closed: bool = False, backends: tuple[int, ...] = ()) -> Any:
    left = list(backends)

    def execute(statement: str, prepare: bool) -> Any:
        assert not prepare, "a pool may not support it"
        return SimpleNamespace(fetchall=lambda: [(left.pop(0),)])

    return cast(Any, SimpleNamespace(closed=closed, execute=execute))


@pytest.mark.parametrize(
    "error",
    [
        errors.AdminShutdown,
        errors.CrashShutdown,
        errors.CannotConnectNow,
        errors.IdleSessionTimeout,
        errors.ConnectionFailure,
        errors.ProtocolViolation,
        # A primary that was made a standby.
        errors.ReadOnlySqlTransaction,
        psycopg.OperationalError,
        psycopg.InterfaceError,
    ],
)
def test_a_connection_is_lost(error: type[psycopg.Error]) -> None:
    assert is_lost(error(), connection())


@pytest.mark.parametrize(
    "error", [errors.QueryCanceled, errors.UniqueViolation, errors.DiskFull, errors.OutOfMemory]
)
def test_a_statement_is_refused(error: type[psycopg.Error]) -> None:
    assert not is_lost(error(), connection())
    assert is_lost(error(), connection(closed=True))


def test_connections_with_backends_of_their_own() -> None:
    check_own_backends(connection(backends=(1, 1)), connection(backends=(2, 2)))


@pytest.mark.parametrize("first, second", [((1, 1), (1, 1)), ((1, 2), (2, 1)), ((1, 1), (2, 3))])
def test_a_pool_that_shares_backends_is_refused(
    first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    with pytest.raises(StorageUnusable, match="session mode"):
        check_own_backends(connection(backends=first), connection(backends=second))
