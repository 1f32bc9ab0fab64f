"""How PostgreSQL is asked when there is much."""

from __future__ import annotations

import pytest

from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.postgresql.address import parse_address
from infrastructure.storage.postgresql.fence import Fence
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.runs import Runs
from infrastructure.storage.postgresql.server import Server
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.statement import statement_of
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore

_ROWS = """
    insert into ottla_rows
    select 't', convert_to(n::text, 'UTF8'), null, 'v', 0, 0, 1 from generate_series({}) n
"""


def test_keys_are_looked_up_also_by_plans_of_a_small_table(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    """A plan stays until the table is analyzed again; it may have a million rows by then."""
    relayed.execute(_ROWS.format("1, 50"), "analyze ottla_rows", "analyze ottla_tail_1")
    staged = Staged()
    for number in range(10):
        staged.rows["t", b"%d" % number] = None
        staged.removed.append((1, number))
    statement, parameters = statement_of(staged, Plan(Runs(), {}, 1), Fence(-1, 1, 0, "(0,1)"))
    place = f"postgres@/postgres?host={relayed.server.folder}&schema={relayed.schema}"
    with Server(parse_address(place), "commit").connect() as connection:
        lines = connection.execute(f"explain {statement}".encode(), parameters).fetchall()
    plan = "\n".join(line for (line,) in lines)
    assert plan.count("Nested Loop") >= 2
    assert "Hash" not in plan and "Merge" not in plan


def test_rows_are_loaded_in_order(
    relayed: RelayedPostgres, opened: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each one would move all that follow: 500,000 rows took 16 s."""
    relayed.execute(_ROWS.format("50, 1, -1"))
    opened.close()
    loaded: list[tuple[str, bytes]] = []
    put = MemoryStateStore.put

    def record(store: MemoryStateStore, table: str, key: bytes, value: bytes | None) -> None:
        loaded.append((table, key))
        put(store, table, key, value)

    monkeypatch.setattr(MemoryStateStore, "put", record)
    relayed.open()
    assert len(loaded) == 51
    assert loaded == sorted(loaded)
