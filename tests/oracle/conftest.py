"""The storage of the brokers that are compared with Kafka."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest

from tests.contract.postgres_server import running_postgres

#: Returns the storage of a new broker: its leader epochs begin at 0, as Kafka's.
NewStore = Callable[[], str]
ENGINES = ["memory", pytest.param("postgresql", marks=pytest.mark.long)]


@pytest.fixture(scope="session", params=ENGINES)
def new_store(request: pytest.FixtureRequest) -> NewStore:
    def of_new_schema() -> str:
        folder, schema = running_postgres().folder, f"oracle_{uuid4().hex[:12]}"
        return f"postgresql://postgres@/postgres?host={folder}&schema={schema}"

    return of_new_schema if request.param == "postgresql" else lambda: "memory"
