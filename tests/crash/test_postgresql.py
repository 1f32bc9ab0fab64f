"""librdkafka's idempotent producer against brokers over PostgreSQL: the broker is killed, the
server stops at once and starts again, its connections end. Each message is there once, in order, at
the reported offset.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.broker_process import BrokerProcess, environment
from tests.e2e.conftest import new_topic
from tests.e2e.librdkafka import read_values
from tests.e2e.load import Acknowledged, IdempotentLoad
from tests.fakes.postgres import Postgres, PostgresNotFound

SHORT = 6
LONG = 100
#: Of our own connections.
_CUT = (
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'ottla %'"
)


@pytest.fixture
def server() -> Iterator[Postgres]:
    try:
        started = Postgres()
    except PostgresNotFound as missing:
        pytest.skip(str(missing))
    started.start()
    yield started
    started.remove()


def restart(server: Postgres) -> None:
    server.stop()
    server.start()


def kill(broker: BrokerProcess) -> None:
    broker.kill()
    broker.start()


@pytest.mark.parametrize(
    "faults", [SHORT, pytest.param(LONG, marks=[pytest.mark.long, pytest.mark.timeout(900)])]
)
def test_an_idempotent_producer_loses_and_doubles_nothing(
    server: Postgres, tmp_path: Path, faults: int
) -> None:
    chance = random.Random(faults)
    url = f"postgresql://postgres@/postgres?host={server.folder}&schema=crashed"
    variables = environment() | {"OTTLA_STORAGE": url}
    with BrokerProcess(tmp_path / "broker", "default", variables=variables) as broker:
        kinds = [partial(kill, broker), partial(restart, server), partial(server.execute, _CUT)]
        topic, acknowledged = new_topic(broker), Acknowledged()
        with IdempotentLoad(broker.address, topic, 0, acknowledged) as load:
            for number in range(faults):
                acknowledged.wait_for_more(chance.randint(20, 500))
                kinds[number % len(kinds)]()
            acknowledged.wait_for_more(100)
            load.stop()
        load.check(read_values(broker.bootstrap, topic, load.produced))
        assert broker.terminate() == 0
