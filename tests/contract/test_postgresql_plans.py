"""How PostgreSQL is asked when there is much."""

from __future__ import annotations

import re
from typing import Any

import pytest

from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.postgresql import asking, moving, questions
from infrastructure.storage.postgresql.address import parse_address
from infrastructure.storage.postgresql.arrays import bigints
from infrastructure.storage.postgresql.fence import Fence
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.runs import Run, Runs
from infrastructure.storage.postgresql.server import Server
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.statement import composed, statement_of, stray_columns
from infrastructure.storage.postgresql.tables import entries_of
from tests.contract.batches import batch
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore

FENCE = Fence(-1, 1, 0, "(0,1)")
_TABLES = ("ottla_rows", "ottla_tail_1", "ottla_runs", "ottla_tails")
_ROWS = """
    insert into ottla_rows
    select 't', convert_to(n::text, 'UTF8'), null, 'v', 0, 0, 1 from generate_series({}) n
"""


def plan_of(relayed: RelayedPostgres, statement: str, parameters: Any) -> str:
    place = f"postgres@/postgres?host={relayed.server.folder}&schema={relayed.schema}"
    with Server(parse_address(place), "commit").connect() as connection:
        lines = connection.execute(f"explain {statement}".encode(), parameters).fetchall()
    return "\n".join(line for (line,) in lines)


def test_keys_are_looked_up_also_by_plans_of_a_small_table(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    """A plan stays until the table is analyzed again; it may have a million rows by then."""
    relayed.execute(_ROWS.format("1, 50"), *(f"analyze {table}" for table in _TABLES))
    runs, staged = Runs(), Staged()
    runs.put(1, (Run(0, 1), Run(5, 2)))
    for number in range(10):
        staged.rows["t", b"%d" % number] = None
        staged.removed.append((1, number))
    staged.trim(1, 4, [(4, 100)])
    staged.append(2, 0, batch(0), -1)
    staged.end()
    plan = Plan(runs, {1: 10}, 1)
    plan.take(staged)
    text = plan_of(relayed, *statement_of(staged, plan, FENCE))
    assert text.count("Nested Loop") >= 5
    assert not re.search("Hash|Merge|Seq Scan on ottla_(?!store|fences)", text)


def test_entries_to_move_are_looked_up(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    relayed.execute("create table ottla_tail_2 (like ottla_tail_1 including all)")
    columns = {
        "moved": [bigints([1]), bigints([0]), bigints([5])],
        "strays": stray_columns([(1, 0, 5)], [(1, 3)]),
    }
    text = plan_of(relayed, *composed(columns, 2, FENCE, old_tail=1))
    assert not re.search("Hash|Merge|Seq Scan on ottla_(?!store|fences)", text)
    text = plan_of(relayed, moving._SIZES.format(1), columns["moved"])
    assert "Index Scan" in text
    assert "Seq Scan" not in text


@pytest.mark.parametrize(
    "name",
    [
        one
        for one, value in vars(questions).items()
        if one.isupper() and isinstance(value, str) and one != "WITHIN"
    ],
)
@pytest.mark.parametrize("object_name", [None, "name"])
def test_a_question_looks_up_its_entries(
    relayed: RelayedPostgres, opened: RelayedStore, name: str, object_name: str | None
) -> None:
    statement = getattr(questions, name)
    if object_name is not None and name == "BATCHES":
        statement = asking._PLACES
    values = {"partition_id": 1, "first_offset": 0, "end_offset": 9, "value": 9}
    relayed.execute("analyze ottla_tail_1", "analyze ottla_object_entries")
    text = plan_of(relayed, statement.format(tail=entries_of(1, object_name)), values)
    assert "Index" in text
    assert "Seq Scan" not in text


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
