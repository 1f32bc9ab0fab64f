"""Runs the queries of docs/storage.md on the database of a running broker."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.contract.postgres_server import running_postgres
from tests.e2e.conftest import StartBroker, new_topic
from tests.e2e.test_offset_storage import commit

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/storage.md").read_text("utf-8")
OF_SQLITE, OF_POSTGRES = re.findall(r"^```sql\n(.*?);\n```$", PAGE, re.MULTILINE | re.DOTALL)

Ask = Callable[[str], Sequence[tuple[object, ...]]]


def place(engine: str, folder: Path) -> tuple[str, Ask]:
    if engine == "postgres":
        server = running_postgres()
        server.execute("DROP SCHEMA IF EXISTS looked_at CASCADE", "CREATE SCHEMA looked_at")
        return server.url("looked_at"), lambda query: server.execute(
            "SELECT set_config('search_path', 'looked_at', false)", query
        )
    file = folder / "offsets.db"

    def rows(query: str) -> Sequence[tuple[object, ...]]:
        connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    return f"sqlite://{file}", rows


@pytest.mark.parametrize("engine, query", [("sqlite", OF_SQLITE), ("postgres", OF_POSTGRES)])
def test_committed_offsets_are_shown_as_text(
    engine: str, query: str, start_broker: StartBroker, tmp_path: Path
) -> None:
    url, rows = place(engine, tmp_path)
    broker = start_broker("--set", f"offsets={url}")
    topic = new_topic(broker)
    commit(broker, "Lesezirkel Süd", topic, 5)
    assert rows(query) == [("Lesezirkel Süd", topic, 0, 5)]
