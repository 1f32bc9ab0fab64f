from __future__ import annotations

from typing import Any

import pytest

from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.postgresql.address import parse_address
from infrastructure.storage.postgresql.server import Server, check_server


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
    check_server(connection, parse_address("host/db"))


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
            "the server is a standby, which cannot be written; name the primary, or both with "
            "target_session_attrs=read-write",
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
