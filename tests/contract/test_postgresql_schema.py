"""The schema of a store: its longest name."""

from __future__ import annotations

import uuid

from infrastructure.storage.postgresql.address import LONGEST_SCHEMA
from infrastructure.storage.postgresql.closed import PostgresSchema
from infrastructure.storage.postgresql.opening import opened
from tests.contract.joined_brokers import JoinedBrokers
from tests.contract.postgres_server import running_postgres


def longest_schema() -> str:
    return f"s{uuid.uuid4().hex}".ljust(LONGEST_SCHEMA, "x")


def test_brokers_tell_each_other_of_changes() -> None:
    cluster = JoinedBrokers(running_postgres())
    cluster.schema = longest_schema()
    first, second = cluster.join(1), cluster.join(2)
    first.put(b"k", b"v")
    assert first.commit() is None
    second.run_until(lambda: second.storage.state.get("t", b"k"))
    cluster.close()


def test_a_copy_is_made_whole() -> None:
    """In a schema beside it, whose name is not longer."""
    folder = running_postgres().folder
    schema = PostgresSchema(f"postgres@/postgres?host={folder}&schema={longest_schema()}")
    with schema.made_whole() as url:
        opened(url.removeprefix("postgresql://"), "commit", None).commit.close()
        assert not schema.has_store()
    assert schema.has_store()
