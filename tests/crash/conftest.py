from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crash.broker import Nursery
from tests.crash.database import Database
from tests.fakes.postgres import Postgres, PostgresNotFound


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    try:
        started = Postgres()
    except PostgresNotFound as missing:
        pytest.skip(str(missing))
    started.start()
    yield started
    started.remove()


@pytest.fixture
def database(server: Postgres) -> Iterator[Database]:
    """Of a new store."""
    with Database(server) as database:
        yield database
