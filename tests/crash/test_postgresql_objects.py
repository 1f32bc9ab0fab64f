"""Brokers over PostgreSQL and a bucket die while objects are written, sealed and deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.s3_objects import Objects
from tests.contract.s3_server import running_s3
from tests.crash.broker import Nursery
from tests.crash.database import Database
from tests.crash.deaths import at, random_death
from tests.crash.life import Life
from tests.crash.lives import live, random_life
from tests.crash.points import OBJECT_COMMIT_POINTS, OBJECT_POINTS
from tests.crash.test_postgresql import seed
from tests.fakes.postgres import Postgres

DEATHS, LONG_LIVES = 4, 20
TO_TABLES = "&local.bytes=0&delete.delay.ms=1000"
TO_OBJECTS = f"{TO_TABLES}&commit.to=objects"


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with Nursery(running_s3().environment) as nursery:
        yield nursery


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch) -> Objects:
    for name, value in running_s3().environment.items():
        monkeypatch.setenv(name, value)
    return Objects(running_s3())


def check(database: Database, objects: Objects) -> None:
    """All that is in the bucket is known, and all that is needed is there."""
    known = database.execute("select object, deleted is null and session is null from ottla_tails")
    [(store_id,)] = database.execute("select id from ottla_store")
    names = [name for name in objects.names() if name.startswith(str(store_id))]
    assert names
    assert set(names) <= {name for name, _ in known}
    assert {name for name, is_needed in known if name and is_needed} <= set(names)


@pytest.mark.timeout(240)
def test_acknowledged_data_survives_every_death(
    server: Postgres, objects: Objects, nursery: Nursery, tmp_path: Path
) -> None:
    with Database(server, f"{objects.url}{TO_TABLES}") as database:
        life = Life(nursery, tmp_path, 1, "commit", database=database)
        drawn = [random_death("commit", life.chance, "postgresql") for _ in range(DEATHS)]
        live(life, [*drawn, *(at(point, life.chance) for point in OBJECT_POINTS)])
        assert life.batches > 0
        check(database, objects)


@pytest.mark.timeout(240)
def test_acknowledged_data_survives_deaths_while_commits_write_objects(
    server: Postgres, objects: Objects, nursery: Nursery, tmp_path: Path
) -> None:
    with Database(server, f"{objects.url}{TO_OBJECTS}") as database:
        life = Life(nursery, tmp_path, 1, "commit", database=database)
        live(life, [at(point, life.chance) for point in OBJECT_COMMIT_POINTS])
        assert life.batches > 0
        check(database, objects)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("more", [TO_TABLES, TO_OBJECTS])
def test_acknowledged_data_survives_hundreds_of_deaths(
    server: Postgres, objects: Objects, nursery: Nursery, tmp_path: Path, more: str
) -> None:
    first = seed()
    points = 2 * [*OBJECT_POINTS, *(OBJECT_COMMIT_POINTS if more == TO_OBJECTS else ())]
    for number in range(first, first + LONG_LIVES):
        with Database(server, f"{objects.url}{more}") as database:
            life = random_life(nursery, tmp_path / str(number), number, "commit", database=database)
            life.chance.shuffle(points)
            live(life, [at(point, life.chance) for point in points])
            check(database, objects)
