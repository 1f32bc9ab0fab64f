"""Settings of the role or the database, which an operator may have made for other programs."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from tests.contract.joined_brokers import JoinedBrokers
from tests.contract.postgres_server import running_postgres

SETTINGS = {
    "datestyle": "German",
    "client_encoding": "SQL_ASCII",
    "client_min_messages": "error",
    "timezone": "Asia/Kathmandu",
    "bytea_output": "escape",
    "extra_float_digits": "-15",
    "intervalstyle": "sql_standard",
    "array_nulls": "off",
    "default_transaction_deferrable": "on",
    "default_transaction_isolation": "serializable",
    "row_security": "off",
    "transform_null_equals": "on",
    "standard_conforming_strings": "off",
    "search_path": "pg_catalog",
    "lock_timeout": "1",
}


@pytest.fixture
def cluster() -> Iterator[JoinedBrokers]:
    server = running_postgres()
    role = f"role_{uuid.uuid4().hex}"
    server.execute(
        f"create role {role} login",
        f"grant create on database postgres to {role}",
        *(f"alter role {role} set {name} = '{value}'" for name, value in SETTINGS.items()),
    )
    cluster = JoinedBrokers(server, user=role)
    yield cluster
    cluster.close()
    server.execute(f"drop owned by {role} cascade", f"drop role {role}")


def test_settings_of_the_role_change_nothing(cluster: JoinedBrokers) -> None:
    first, second = cluster.join(1), cluster.join(2)
    for broker in (first, second):
        broker.announce()
    first.run_until(lambda: first.brokers() == [(1, False), (2, False)])
    first.put(b"k", "ä\\'".encode())
    first.lead(7, 1)
    first.append(7, 0)
    assert first.commit() is None
    second.run_until(lambda: second.storage.state.get("t", b"k"))
    assert second.storage.state.get("t", b"k") == "ä\\'".encode()
    second.put(b"k", None)
    assert second.commit() is None
    first.close()
    second.run_until(lambda: second.brokers() == [(1, True), (2, False)])
    again = cluster.join(1)
    assert again.last_offsets(7) == [0]
    assert again.storage.state.get("t", b"k") is None
    assert (first.fenced, second.fenced, again.fenced) == (0, 0, 0)
