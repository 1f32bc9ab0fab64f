"""Brokers over PostgreSQL die at random and at named points; meanwhile the server stops at once and
starts again, or its connections end.
"""

from __future__ import annotations

import os
import random
from functools import partial
from pathlib import Path

import pytest

from tests.crash.broker import Nursery
from tests.crash.chain import Chain
from tests.crash.database import Database
from tests.crash.deaths import at, killed_after, random_death
from tests.crash.life import Life
from tests.crash.lives import live, random_life
from tests.crash.points import FLUSHES_OF_A_DATABASE, POSTGRESQL_POINTS, When, points_of
from tests.crash.test_transactions import copy
from tests.e2e.broker_process import BrokerProcess, environment
from tests.e2e.conftest import new_topic
from tests.e2e.librdkafka import read_values
from tests.e2e.load import Acknowledged, IdempotentLoad
from tests.fakes.postgres import Postgres

SHORT, LONG = 6, 100
CHAIN_LIVES = 80
DEATHS, LONG_LIVES = 4, 20


def seed() -> int:
    return int(os.environ.get("OTTLA_TEST_SEED", "") or int.from_bytes(os.urandom(3), "big"))


def kill(broker: BrokerProcess) -> None:
    broker.kill()
    broker.start()


@pytest.mark.parametrize(
    "faults", [SHORT, pytest.param(LONG, marks=[pytest.mark.long, pytest.mark.timeout(900)])]
)
def test_an_idempotent_producer_loses_and_doubles_nothing(
    database: Database, tmp_path: Path, faults: int
) -> None:
    chance = random.Random(faults)
    variables = environment() | {"OTTLA_STORAGE": database.url}
    with BrokerProcess(tmp_path / "broker", "default", variables=variables) as broker:
        kinds = [partial(kill, broker), database.lose, database.restart, database.cut]
        topic, acknowledged = new_topic(broker), Acknowledged()
        with IdempotentLoad(broker.address, topic, 0, acknowledged) as load:
            for number in range(faults):
                acknowledged.wait_for_more(chance.randint(20, 500))
                kinds[number % len(kinds)]()
            acknowledged.wait_for_more(100)
            load.stop()
        load.check(read_values(broker.bootstrap, topic, load.produced))
        assert broker.terminate() == 0
    # Whatever became of a commit was found out.
    assert "storage_failed" not in broker.log(1 << 20)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_each_record_is_copied_once(
    protocol: str, database: Database, nursery: Nursery, tmp_path: Path
) -> None:
    chain = Chain(nursery, tmp_path, seed(), protocol=protocol, database=database)
    copy(chain, CHAIN_LIVES)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("flush", FLUSHES_OF_A_DATABASE)
def test_acknowledged_data_survives_every_death(
    flush: str, database: Database, nursery: Nursery, tmp_path: Path
) -> None:
    """Each point with one of the policies; `--long` has all."""
    life = Life(nursery, tmp_path, 1, flush, database=database)
    number, count = FLUSHES_OF_A_DATABASE.index(flush), len(FLUSHES_OF_A_DATABASE)
    points = [at(point, life.chance) for point in POSTGRESQL_POINTS[number::count]]
    drawn = [random_death(flush, life.chance, "postgresql") for _ in range(DEATHS)]
    live(life, [*drawn, *points])
    assert life.batches > 0


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("flush", FLUSHES_OF_A_DATABASE)
def test_acknowledged_data_survives_hundreds_of_deaths(
    flush: str, server: Postgres, nursery: Nursery, tmp_path: Path
) -> None:
    first = seed()
    for number in range(first, first + LONG_LIVES):
        with Database(server) as database:
            random_life(nursery, tmp_path / str(number), number, flush, database=database)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("flush", FLUSHES_OF_A_DATABASE)
def test_nothing_is_lost_at_any_point(
    flush: str, database: Database, nursery: Nursery, tmp_path: Path
) -> None:
    life = Life(nursery, tmp_path, seed(), flush, database=database)
    points = [one for one in points_of(flush, "postgresql") if one.when is not When.FIRST_START]
    life.chance.shuffle(points)
    live(life, [killed_after(50, life.chance), *(at(point, life.chance) for point in points)])
