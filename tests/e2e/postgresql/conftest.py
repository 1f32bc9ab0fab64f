"""Brokers whose store is a schema of a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from tests.contract.postgres_server import running_postgres
from tests.e2e.broker_process import BrokerProcess, environment
from tests.e2e.conftest import EXTERNAL

#: The server trusts everybody.
PASSWORD = "PaSs-store-1"

StartStored = Callable[..., BrokerProcess]


def store_url(
    schema: str, user: str = "postgres", password: str = PASSWORD, database: str = "postgres"
) -> str:
    folder = running_postgres().folder
    return f"postgresql://{user}:{password}@/{database}?host={folder}&schema={schema}"


@pytest.fixture
def own_schema() -> str:
    return f"e2e_{uuid4().hex[:12]}"


@pytest.fixture
def url(own_schema: str) -> str:
    """Of a new store."""
    return store_url(own_schema)


@pytest.fixture
def start_stored(tmp_path: Path, url: str) -> Iterator[StartStored]:
    """The URL is in the environment."""
    if EXTERNAL:
        pytest.skip("starts a broker of its own; OTTLA_TEST_BOOTSTRAP names another")
    with ExitStack() as stack:

        def start(*arguments: str) -> BrokerProcess:
            variables = environment() | {"OTTLA_STORAGE": url}
            broker = BrokerProcess(tmp_path / "broker", "default", arguments, variables=variables)
            return stack.enter_context(broker)

        yield start
