"""Committed offsets are in one place, which the store records."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.errors import OffsetsUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.sql.offset_database import OffsetDatabase
from tests.contract.offset_engines import (
    SqliteOffsets,
)
from tests.contract.opened_offsets import (
    DISCONNECT_ALL,
    Opened,
    put_rows,
    rows_in,
    store_with,
)
from tests.contract.test_offset_repository import row
from tests.fakes.logs import FakeEventLog
from tests.fakes.offsets import offsets_home
from tests.fakes.postgres import Postgres

# ---- one place at a time


@pytest.mark.parametrize("flush", ["commit", "interval"])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_offsets_of_the_store_move_into_a_new_database(
    kind: str, flush: Flush, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = f"sqlite://{tmp_path}/new.db"
    if kind == "postgres":
        url = request.getfixturevalue("own_server").url()
    rows = [row(n, f"g{n:03}", partition=p) for n in range(100) for p in range(3)]
    store = store_with(*rows)
    opened = Opened(url, flush=flush, store=store)
    opened.until(lambda: opened.loaded)
    assert sorted(opened.rows, key=lambda one: one[:3]) == rows
    assert opened.outcome(7) is None
    (line,) = opened.events.of("offsets_moved")
    assert (line["offsets"], str(line["database"])[:6]) == (300, url[:6])
    opened.repository.close()
    assert rows_in(store) == []
    again = Opened(url, flush=flush, store=store)
    again.until(lambda: again.loaded)
    assert sorted(again.rows, key=lambda one: one[:3]) == [row(7), *rows]
    assert not again.events.of("offsets_moved")
    again.repository.close()


def test_an_interrupted_move_starts_again(tmp_path: Path) -> None:
    """The database has them, but the store does not record that, and has newer ones."""
    url, store = f"sqlite://{tmp_path}/new.db", store_with(row(1), row(2, "gone"))
    database = OffsetDatabase(url, "a-store", "commit")
    database.open(None)
    database.take_over([row(1), row(2, "gone")])
    database.disconnect()
    put_rows(store, row(5), ("gone", "t", 0, None))
    opened = Opened(url, store=store)
    opened.until(lambda: opened.loaded)
    assert opened.rows == [row(5)]
    opened.repository.close()


def test_the_store_is_refused_while_a_database_has_the_offsets(sqlite: SqliteOffsets) -> None:
    sqlite.keep(row(5))
    with pytest.raises(OffsetsUnusable) as refused:
        offsets_home(sqlite.store, FakeEventLog()).refuse_database()
    assert str(refused.value) == (
        f"this store's committed offsets are in {sqlite.url()}: set offsets to that, or start "
        "once with offsets=memory:// to discard them"
    )


@pytest.mark.parametrize("there", ["nothing", "those of an earlier time"])
def test_another_database_of_the_same_store_is_refused(
    sqlite: SqliteOffsets, tmp_path: Path, there: str
) -> None:
    url = f"sqlite://{tmp_path}/other.db"
    if there != "nothing":
        earlier = Opened(url)
        earlier.until(lambda: earlier.loaded)
        earlier.repository.close()
    refusal = Opened(url, store=sqlite.store).refusal()
    assert f"this store's committed offsets are in {sqlite.url()}: set offsets to" in refusal


def test_discarded_offsets_never_come_back(sqlite: SqliteOffsets) -> None:
    sqlite.keep(row(5))
    sqlite.close()
    events = FakeEventLog()
    offsets_home(sqlite.store, events).give_up()
    (line,) = events.of("offsets_discarded")
    assert line["previous"] == sqlite.url()
    assert offsets_home(sqlite.store, events).known is None
    assert "old committed offsets" in Opened(sqlite.url(), store=sqlite.store).refusal()


def test_offsets_of_the_store_can_be_discarded() -> None:
    store, events = store_with(row(5)), FakeEventLog()
    offsets_home(store, events).give_up()
    offsets_home(store, events).give_up()
    assert len(events.lines) == 1
    assert rows_in(store) == []


def test_the_location_of_offsets_is_reported_without_the_password(own_server: Postgres) -> None:
    opened = Opened(own_server.url(password="hunter2"))
    opened.until(lambda: opened.loaded)
    opened.repository.close()
    known = offsets_home(opened.store, opened.events).known
    assert known is not None
    assert known.place == "postgresql://postgres@/postgres"


# ---- an empty database at the same URL


@pytest.mark.parametrize("left", ["nothing", "tables of the same name"])
def test_a_database_without_its_tables_is_refused(own_server: Postgres, left: str) -> None:
    opened = Opened(own_server.url())
    opened.until(lambda: opened.loaded)
    assert opened.outcome(1) is None
    own_server.execute("DROP TABLE ottla_offsets, ottla_store")
    if left != "nothing":
        another = Opened(own_server.url())
        another.until(lambda: another.loaded)
        another.repository.close()
    own_server.execute(DISCONNECT_ALL)
    assert isinstance(opened.outcome(2), StorageFailed)
    opened.until(lambda: opened.refusals)
    assert "this store's committed offsets are in postgresql://" in str(opened.refusals[0])
    opened.repository.close()


def test_a_missing_database_file_is_refused(sqlite: SqliteOffsets) -> None:
    sqlite.keep(row(5))
    sqlite.close()
    for file in sqlite.folder.iterdir():
        file.unlink()
    refusal = Opened(sqlite.url(), store=sqlite.store).refusal()
    assert refusal.startswith("there are none; this store's committed offsets are in")
