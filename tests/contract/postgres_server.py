"""The PostgreSQL of this process of tests."""

from __future__ import annotations

import atexit
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
