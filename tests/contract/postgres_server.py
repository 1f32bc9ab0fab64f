"""The PostgreSQL of this process of tests."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from tests.fakes.postgres import Postgres, PostgresNotFound


@cache
def running_postgres() -> Postgres:
    """Skips without PostgreSQL."""
    try:
        server = Postgres()
    except PostgresNotFound as missing:
        pytest.skip(str(missing))
    server.start()
    atexit.register(server.remove)
    return server


@contextmanager
def postgres_with_standby() -> Iterator[Postgres]:
    """Of its own: the others do without a synchronous standby."""
    running_postgres()  # or skips
    server = Postgres()
    try:
        server.start()
        server.start_standby()
        yield server
    finally:
        server.remove()
