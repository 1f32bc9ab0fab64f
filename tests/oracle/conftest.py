"""The storage of the brokers that are compared with Kafka."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import uuid4

import pytest

from tests.contract.postgres_server import running_postgres
from tests.oracle.difference import Difference
from tests.oracle.postgresql_differences import POSTGRESQL

#: Returns the storage of a new broker: its leader epochs begin at 0, as Kafka's.
NewStore = Callable[[], str]
ENGINES = ["memory", pytest.param("postgresql", marks=pytest.mark.long)]


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def of_engine(engine: str) -> Sequence[Difference]:
    """Differences of this storage only."""
    return POSTGRESQL if engine == "postgresql" else ()


@pytest.fixture(scope="session")
def new_store(engine: str) -> NewStore:
    def of_new_schema() -> str:
        folder, schema = running_postgres().folder, f"oracle_{uuid4().hex[:12]}"
        return f"postgresql://postgres@/postgres?host={folder}&schema={schema}"

    return of_new_schema if engine == "postgresql" else lambda: "memory"
