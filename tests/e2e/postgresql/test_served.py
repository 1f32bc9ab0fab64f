"""A broker over PostgreSQL: what clients see, before and after a stop and a SIGKILL."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.contract.postgres_server import running_postgres
from tests.e2e.broker_process import BrokerProcess, command, environment, wait_until
from tests.e2e.conftest import new_topic
from tests.e2e.librdkafka import (
    PATIENCE_S,
    admin,
    assigned_consumer,
    deliver,
    next_message,
    producer,
    read_to_end,
    read_values,
)
from tests.e2e.load import Acknowledged, IdempotentLoad, RawLoad
from tests.e2e.postgresql.conftest import PASSWORD, StartStored
from tests.fakes.postgres import Postgres

#: Of what a story has left.
Check = Callable[[], None]

SETTINGS = ("group.initial.rebalance.delay.ms=0", "log.cleaner.backoff.ms=100")
VALUES = [b"%d" % n for n in range(20)]
GROUP = "readers"


def test_everything_survives_a_stop_and_a_kill(start_stored: StartStored) -> None:
    broker = start_stored(*(word for one in SETTINGS for word in ("--set", one)))
    stories = (
        records_and_offsets,
        transactions,
        a_compacted_topic,
        deleted_records_and_a_deleted_topic,
    )
    checks = [story(broker) for story in stories]
    for check in checks:
        check()
    assert broker.terminate() == 0, broker.log()
    broker.start()
    for check in checks:
        check()
    broker.kill()
    broker.start()
    for check in checks:
        check()


def group_consumer(broker: BrokerProcess) -> Consumer:
    settings = {"group.id": GROUP, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    return Consumer({"bootstrap.servers": broker.bootstrap} | settings)


def records_and_offsets(broker: BrokerProcess) -> Check:
    topic = new_topic(broker, 2)
    for partition, idempotent in enumerate((False, True)):
        sender = producer(broker.bootstrap, enable_idempotence=idempotent)
        assert not deliver(sender, topic, *VALUES, partition=partition).errors
    with closing(group_consumer(broker)) as consumer:
        consumer.subscribe([topic])
        for _ in range(2 * len(VALUES)):
            last = next_message(consumer)
        consumer.commit(last, asynchronous=False)

    def check() -> None:
        for partition in range(2):
            assert read_values(broker.bootstrap, topic, len(VALUES), partition) == VALUES
        with closing(group_consumer(broker)) as consumer:
            partition = last.partition() or 0
            [found] = consumer.committed([TopicPartition(topic, partition)], PATIENCE_S)
            assert found.offset == len(VALUES)

    return check


def transactions(broker: BrokerProcess) -> Check:
    topic = new_topic(broker)
    sender = producer(broker.bootstrap, transactional_id="t")
    sender.init_transactions(PATIENCE_S)
    for value, end in (
        (b"aborted", sender.abort_transaction),
        (b"committed", sender.commit_transaction),
    ):
        sender.begin_transaction()
        assert not deliver(sender, topic, value).errors
        end(PATIENCE_S)

    def check() -> None:
        for level, first in (("read_committed", b"committed"), ("read_uncommitted", b"aborted")):
            with assigned_consumer(broker.bootstrap, topic, isolation_level=level) as consumer:
                assert next_message(consumer).value() == first

    return check


def a_compacted_topic(broker: BrokerProcess) -> Check:
    configs = {"cleanup__policy": "compact", "min__cleanable__dirty__ratio": "0.01"}
    topic = new_topic(broker, segment__ms="1", **configs)
    sender = producer(broker.bootstrap)
    now_ms = int(time.time() * 1000)
    for round_ in range(5):
        for key in range(10):
            at_ms = now_ms - 5 + round_
            sender.produce(topic, b"%d" % round_, b"%d" % key, timestamp=at_ms)
        assert sender.flush(PATIENCE_S) == 0
    sender.produce(topic, b"the active segment", b"last", timestamp=now_ms + 10)
    assert sender.flush(PATIENCE_S) == 0
    newest = [(40 + key, b"%d" % key, b"4") for key in range(10)]
    newest.append((50, b"last", b"the active segment"))

    def check() -> None:
        def is_compacted() -> bool:
            found = read_to_end(broker.bootstrap, topic)
            return [(one.offset(), one.key(), one.value()) for one in found] == newest

        wait_until(is_compacted)

    return check


def deleted_records_and_a_deleted_topic(broker: BrokerProcess) -> Check:
    topic, deleted = new_topic(broker), new_topic(broker)
    for name in (topic, deleted):
        sender = producer(broker.bootstrap)
        for number, value in enumerate(VALUES):
            deliver(sender, name, value, timestamp=1000 + number)
    client = admin(broker.bootstrap)
    for future in client.delete_records([TopicPartition(topic, 0, 5)]).values():
        assert future.result(PATIENCE_S).low_watermark == 5
    for future in client.delete_topics([deleted]).values():
        future.result(PATIENCE_S)

    def check() -> None:
        assert deleted not in admin(broker.bootstrap).list_topics(timeout=PATIENCE_S).topics
        with assigned_consumer(broker.bootstrap, topic, 5) as consumer:
            partition = TopicPartition(topic, 0)
            assert consumer.get_watermark_offsets(partition, PATIENCE_S) == (5, len(VALUES))
            [found] = consumer.offsets_for_times([TopicPartition(topic, 0, 1008)], PATIENCE_S)
            assert found.offset == 8
            assert next_message(consumer).value() == VALUES[5]

    return check


def test_everything_acknowledged_before_a_kill_is_there(start_stored: StartStored) -> None:
    broker = start_stored()
    topic = new_topic(broker, 2)
    acknowledged = Acknowledged()
    raw = RawLoad(broker.address, topic, 0, acknowledged)
    with IdempotentLoad(broker.address, topic, 1, acknowledged) as idempotent:
        raw.start()
        acknowledged.wait_for_more(100)
        broker.kill()
        broker.start()
        acknowledged.wait_for_more(50)
        idempotent.stop()
    with broker.connect() as client:
        raw.join()
        raw.check(client)
    idempotent.check(read_values(broker.bootstrap, topic, idempotent.produced, partition=1))


def test_sigterm_ends_a_broker_whose_server_is_away(tmp_path: Path) -> None:
    running_postgres()  # or skips
    server = Postgres()
    try:
        server.start()
        url = f"postgresql://postgres@/postgres?host={server.folder}"
        arguments = ("--storage", url, "--set", "drain.timeout.ms=100")
        with BrokerProcess(tmp_path, "default", arguments) as broker:
            topic = new_topic(broker)
            deliver(producer(broker.bootstrap), topic, b"x")
            server.stop()
            assert broker.terminate() == 0
            assert "the store does not respond" in broker.log_line("snapshot_failed")
            server.start()
            broker.start()
            assert read_values(broker.bootstrap, topic, 1) == [b"x"]
    finally:
        server.remove()


def test_an_outage_is_logged_and_producers_wait(tmp_path: Path) -> None:
    running_postgres()  # or skips
    server = Postgres()
    try:
        server.start()
        url = f"postgresql://postgres@/postgres?host={server.folder}"
        arguments = ("--storage", url, "--admin", "127.0.0.1:0")
        with BrokerProcess(tmp_path, "default", arguments) as broker:
            topic, sender = new_topic(broker), producer(broker.bootstrap)
            server.stop()
            sender.produce(topic, b"waits")
            sender.poll(0)
            wait_until(lambda: "storage_waits" in broker.log())
            with pytest.raises(HTTPError, match="503") as not_ready:
                urlopen(f"http://{broker.admin.bootstrap}/readyz", timeout=PATIENCE_S)
            assert b"PostgreSQL cannot be reached" in not_ready.value.read()
            server.start()
            assert sender.flush(PATIENCE_S) == 0
            wait_until(lambda: "storage_goes_on" in broker.log())
            assert read_values(broker.bootstrap, topic, 1) == [b"waits"]
    finally:
        server.remove()


def test_the_password_is_in_no_output(start_stored: StartStored, url: str) -> None:
    broker = start_stored("--admin", "127.0.0.1:0", "--set", "log.requests=all", "--flush", "os")
    topic = new_topic(broker)
    deliver(producer(broker.bootstrap), topic, b"x")
    outputs = {"ready file": json.dumps(broker.ready)}
    paths = (
        "/readyz",
        "/version",
        "/metrics",
        "/configs",
        "/brokers/1/configs",
        "/console/data/overview",
    )
    for path in (*paths, "/requestz"):
        with closing(HTTPConnection(*broker.admin, timeout=PATIENCE_S)) as connection:
            connection.request("GET", path)
            response = connection.getresponse()
            assert response.status == 200, path
            outputs[path] = response.read().decode()
    shown = subprocess.run(
        command("config", "show", "--storage", url),
        capture_output=True, text=True, env=environment(),
    )  # fmt: skip
    assert shown.returncode == 0
    outputs["config show"] = shown.stdout + shown.stderr
    with broker.connect() as client:
        assert client.log_bytes(topic) > 0
    assert broker.terminate() == 0
    outputs["log"] = broker.log(1 << 22)
    assert [name for name, text in outputs.items() if PASSWORD in text] == []
    masked = url.replace(PASSWORD, "***")
    assert broker.ready["storage"] == masked
    for name in ("log", "/console/data/overview", "config show"):
        assert masked in outputs[name]
    assert '"flush":"os"' in outputs["log"]
    assert "startup_warning" not in outputs["log"]
    assert json.loads(outputs["/console/data/overview"])["disk"]["place"] == "postgresql"
