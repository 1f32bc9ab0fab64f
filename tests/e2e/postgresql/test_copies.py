"""min.insync.replicas with a synchronous standby of PostgreSQL that comes and goes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError

from tests.contract.postgres_server import postgres_with_standby
from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.broker_process import BrokerProcess, wait_until
from tests.e2e.conftest import EXTERNAL, new_topic
from tests.e2e.librdkafka import PATIENCE_S, deliver, producer, read_values
from tests.e2e.postgresql.conftest import StartStored
from tests.fakes.postgres import Postgres


@pytest.fixture
def server() -> Iterator[Postgres]:
    """With a synchronous standby."""
    if EXTERNAL:
        pytest.skip("starts a broker of its own; OTTLA_TEST_BOOTSTRAP names another")
    with postgres_with_standby() as server:
        yield server


def test_acks_all_waits_for_a_standby_that_is_gone(server: Postgres, tmp_path: Path) -> None:
    """A producer with retries goes on when it is back."""
    url = f"postgresql://postgres@/postgres?host={server.folder}"
    arguments = ("--storage", url, "--set", "min.insync.replicas=2")
    with BrokerProcess(tmp_path, "default", arguments) as broker:
        topic = new_topic(broker)
        patient, hasty = producer(broker.bootstrap), producer(broker.bootstrap, retries=0)
        assert not deliver(patient, topic, b"two copies").errors
        assert '"synchronous_standby":true' in broker.log_line("broker_started")
        assert server.standby is not None
        server.standby.stop()
        wait_until(lambda: '"copies":1,"before":2' in broker.log())
        [error] = deliver(hasty, topic, b"refused").errors
        assert error.code() == KafkaError.NOT_ENOUGH_REPLICAS
        patient.produce(topic, b"waits")
        patient.poll(0)
        wait_until(lambda: broker.log().count('["NOT_ENOUGH_REPLICAS"]') > 1)
        server.standby.start()
        assert patient.flush(PATIENCE_S) == 0
        assert read_values(broker.bootstrap, topic, 2) == [b"two copies", b"waits"]
        wait_until(lambda: '"copies":2,"before":1' in broker.log())


@pytest.fixture
def single_copy(start_stored: StartStored) -> Ottla:
    broker = start_stored("--set", "min.insync.replicas=2")
    ottla = Ottla(broker.bootstrap)
    ottla.run("topic", "create", "t")
    return ottla


@pytest.mark.long
def test_ottla_produce_names_the_copies_that_are_missing(single_copy: Ottla) -> None:
    for more in ((), ("-X", "enable.idempotence=false", "-X", "retries=0")):
        refused = single_copy.run("produce", "t", "--timeout", "3", *more, stdin=b"x", code=1)
        assert "t has min.insync.replicas=2" in refused.errors
        assert "synchronous standbys" in refused.errors
        assert refused.errors.count("\n") == 1


@pytest.mark.long
def test_ottla_consume_reports_that_offsets_were_not_committed(single_copy: Ottla) -> None:
    single_copy.run("produce", "t", "-X", "acks=1", stdin=b"x")
    read = single_copy.run("consume", "t", "-g", "g", "--exit", "--timeout", "5", code=1)
    assert read.out == "x\n"
    assert "the offsets of group g were not committed" in read.errors
    assert read.errors.count("\n") == 1
