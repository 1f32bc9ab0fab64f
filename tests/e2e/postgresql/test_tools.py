"""`ottla storage` on a store in PostgreSQL: a store moves there, is checked, and comes back."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from interfaces.main.__main__ import main
from tests.contract.postgres_server import running_postgres
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import new_topic
from tests.e2e.librdkafka import deliver, producer, read_values
from tests.e2e.postgresql.conftest import PASSWORD, StartStored
from tests.e2e.postgresql.test_served import group_consumer

VALUES = [b"%d" % number for number in range(50)]


def storage(*arguments: str, code: int = 0) -> str:
    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        assert main(["storage", *arguments]) == code, said.getvalue()
    assert PASSWORD not in said.getvalue()
    return said.getvalue()


def dump(place: str) -> str:
    """Without internal topics: a broker over PostgreSQL makes them."""
    head, *logs = storage("dump", place).split("Dumping ")
    assert head == ""
    return "".join(log for log in logs if not log.startswith("__"))


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Path, str]:
    """A stopped store of lmdb:// with records and committed offsets; its topic."""
    with BrokerProcess(tmp_path / "filled") as broker:
        topic = new_topic(broker, 2)
        for partition in range(2):
            sender = producer(broker.bootstrap, enable_idempotence=True)
            assert not deliver(sender, topic, *VALUES, partition=partition).errors
        consumer = group_consumer(broker)
        consumer.subscribe([topic])
        message = None
        while message is None:
            message = consumer.poll(1)
        consumer.commit(message, asynchronous=False)
        consumer.close()
        assert broker.terminate() == 0
    return tmp_path / "filled" / "data", topic


def test_a_store_moves_to_postgresql_and_back(
    filled: tuple[Path, str], tmp_path: Path, url: str, start_stored: StartStored
) -> None:
    folder, topic = filled
    storage("copy", str(folder), url)
    verified = storage("verify", url)
    assert "problem" not in verified
    assert "pages: PostgreSQL does not check its pages: data_checksums is off" in verified
    assert topic in storage("info", url)
    assert "exists already" in storage("copy", str(folder), url, code=1)
    assert dump(url) == dump(str(folder)) != ""

    broker = start_stored()
    for partition in range(2):
        assert read_values(broker.bootstrap, topic, len(VALUES), partition) == VALUES
    assert "in use by broker 1" in storage("verify", url, code=1)
    assert broker.terminate() == 0

    back = tmp_path / "back"
    storage("copy", url, f"files://{back}")
    assert "problem" not in storage("verify", str(back))
    assert dump(str(back)) == dump(str(folder))


def test_what_is_in_the_way_of_a_copy(filled: tuple[Path, str], url: str, own_schema: str) -> None:
    folder, _ = filled
    server = running_postgres()
    # A copy that was killed, and then tables of something else.
    server.execute(f"create schema {own_schema}_partial")
    server.execute(f"create table {own_schema}_partial.ottla_store (id text)")
    storage("copy", str(folder), url)
    server.execute(f"create schema {own_schema}_partial")
    server.execute(f"create table {own_schema}_partial.orders (id text)")
    server.execute(f"alter schema {own_schema} rename to {own_schema}_before")
    said = storage("copy", str(folder), url, code=1)
    assert f"schema {own_schema}_partial is in the way: it has orders" in said
    assert server.execute(f"select * from {own_schema}_partial.orders") == []


def test_what_is_not_there(url: str) -> None:
    assert "no store in postgresql://postgres:***@/postgres" in storage("info", url, code=1)
    assert "Connection refused" in storage(
        "verify", f"postgresql://me:{PASSWORD}@127.0.0.1:1/db", code=1
    )


def test_space_is_freed_by_postgresql(start_stored: StartStored, url: str) -> None:
    assert start_stored().terminate() == 0
    assert "VACUUM FULL" in storage("compact", url, code=1)
