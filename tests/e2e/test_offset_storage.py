"""Committed offsets in a place of their own: `--set offsets=...`."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tests.contract.postgres_server import running_postgres
from tests.e2e.broker_process import PATIENCE_S, BrokerProcess
from tests.e2e.conftest import StartBroker, new_topic


def consumer(broker: BrokerProcess, group_id: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": group_id,
            "enable.auto.commit": False,
        }
    )


def once_loaded(call: Callable[[], list[TopicPartition]]) -> list[TopicPartition]:
    """Repeats the call while the offsets are loading: librdkafka does not retry that error."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return call()
        except KafkaException as refused:
            later = refused.args[0].code() == KafkaError.COORDINATOR_LOAD_IN_PROGRESS
            if not later or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def commit(broker: BrokerProcess, group_id: str, topic: str, *offsets: int) -> None:
    with closing(consumer(broker, group_id)) as client:
        partitions = [TopicPartition(topic, n, offset) for n, offset in enumerate(offsets)]
        for one in once_loaded(lambda: client.commit(offsets=partitions, asynchronous=False)):
            assert one.error is None


def committed(broker: BrokerProcess, group_id: str, topic: str, count: int) -> list[int]:
    with closing(consumer(broker, group_id)) as client:
        partitions = [TopicPartition(topic, n) for n in range(count)]
        found = once_loaded(lambda: client.committed(partitions, timeout=PATIENCE_S))
        return [one.offset for one in found]


@pytest.mark.parametrize(
    "kind",
    # tests/e2e/groups has stories with both databases, too.
    [*(pytest.param(kind, marks=pytest.mark.long) for kind in ("sqlite", "postgres")), "memory"],
)
def test_offsets_are_in_the_configured_store(start_broker: StartBroker, kind: str) -> None:
    place = "sqlite://" if kind == "sqlite" else "memory://"
    if kind == "postgres":
        server = running_postgres()
        server.execute("DROP SCHEMA IF EXISTS e2e CASCADE", "CREATE SCHEMA e2e")
        place = server.url("e2e")
    broker = start_broker("--set", f"offsets={place}")
    topic = new_topic(broker, 2)
    commit(broker, "g", topic, 5, 7)
    commit(broker, "g", topic, 6, 2)
    assert committed(broker, "g", topic, 2) == [6, 2]

    broker.kill()
    broker.start()
    expected = [6, 2] if kind != "memory" else [-1001, -1001]
    assert committed(broker, "g", topic, 2) == expected

    assert broker.terminate() == 0, broker.log()
    assert "Traceback" not in broker.log()


@pytest.mark.long
def test_a_file_of_another_store_ends_the_broker_with_one_line(start_broker: StartBroker) -> None:
    broker = start_broker("--set", "offsets=sqlite://")
    topic = new_topic(broker)
    commit(broker, "g", topic, 5)
    assert broker.terminate() == 0
    file = broker.folder / "data" / "offsets.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE ottla_store SET value = 'another' WHERE name = 'store'")

    before = len(broker.log())
    broker.process = broker.spawn()
    assert broker.process.wait(PATIENCE_S) == 1
    *_, last = broker.log()[before:].strip().splitlines()
    assert last.startswith(
        f"ottla: cannot keep committed offsets in sqlite://{file}: it holds the committed offsets "
        "of another store (another, and this is "
    )
    assert "Traceback" not in broker.log()


def test_offsets_are_copied_to_a_database_and_remain_without_it(
    start_broker: StartBroker,
) -> None:
    broker = start_broker()
    topic = new_topic(broker, 2)
    commit(broker, "g", topic, 5, 7)
    assert broker.terminate() == 0
    file = broker.folder / "data" / "offsets.db"
    broker.arguments += ["--set", "offsets=sqlite://"]
    broker.start()
    assert committed(broker, "g", topic, 2) == [5, 7]
    assert broker.terminate() == 0

    del broker.arguments[-2:]
    before = len(broker.log())
    broker.process = broker.spawn()
    assert broker.process.wait(PATIENCE_S) == 1
    *_, last = broker.log()[before:].strip().splitlines()
    assert last == (
        f"ottla: cannot keep committed offsets in lmdb://{broker.folder / 'data'}: this store's "
        f"committed offsets are in sqlite://{file}: set offsets to that, or start once with "
        "offsets=memory:// to discard them"
    )
