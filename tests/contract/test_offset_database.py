"""Committed offsets in SQL databases."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.flush import Flush
from infrastructure.storage.sql import offset_database, offset_repository
from infrastructure.storage.sql.offset_database import OffsetDatabase
from tests.contract.offset_engines import (
    PATIENCE_S,
    PostgresOffsets,
    SqliteOffsets,
)
from tests.contract.opened_offsets import (
    DISCONNECT_ALL,
    Opened,
)
from tests.contract.test_offset_repository import row
from tests.fakes.postgres import Postgres

# ---- the owner of a database


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_offsets_of_another_store_are_refused(kind: str, request: pytest.FixtureRequest) -> None:
    owner = request.getfixturevalue(kind)
    owner.keep(row(5))
    refusal = Opened(owner.url(), "another-store").refusal()
    assert "committed offsets of another store (a-store, and this is another-store)" in refusal
    owner.reopen()
    assert owner.rows() == [row(5)]


def test_another_format_is_refused(sqlite: SqliteOffsets) -> None:
    sqlite.execute("UPDATE ottla_store SET value = '99' WHERE name = 'format'")
    assert "it has format 99" in Opened(sqlite.url()).refusal()


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear Sir or Madam, " * 100)
    assert Opened(f"sqlite://{file}").refusal() == "file is not a database"
    assert file.read_text() == "Dear Sir or Madam, " * 100


def test_other_users_cannot_read_the_file(sqlite: SqliteOffsets) -> None:
    assert sqlite.file().stat().st_mode & 0o077 == 0


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/nowhere/offsets.db"
    assert Opened(url).refusal() == "unable to open database file"


def test_an_invalid_url_is_reported_without_its_password() -> None:
    refusal = Opened("postgresql://me:secret@host:port/db").refusal()
    assert refusal == "the URL cannot be understood"


# ---- durability


@pytest.mark.parametrize(("flush", "synchronous"), [("commit", 2), ("interval", 1), ("os", 1)])
def test_sqlite_is_as_durable_as_the_flush_policy(
    tmp_path: Path, flush: Flush, synchronous: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = OffsetDatabase(f"sqlite://{tmp_path}/offsets.db", "a-store", flush)
    database.open(None)
    connection = database._connection
    assert connection is not None
    assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == synchronous
    assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    database.disconnect()


@pytest.mark.parametrize(("flush", "expected"), [("commit", "on"), ("interval", "off")])
def test_postgres_is_as_durable_as_the_flush_policy(
    postgres: PostgresOffsets, flush: Flush, expected: str
) -> None:
    database = OffsetDatabase(postgres.url(), "a-store", flush)
    database.open(None)
    assert database._connection is not None
    shown = database._connection.exec_driver_sql("SHOW synchronous_commit").scalar()
    assert shown == expected
    database.disconnect()


# ---- the thread


def test_queued_commits_share_a_transaction_of_about_a_hundred_rows(
    sqlite: SqliteOffsets, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    write = OffsetDatabase.write
    go_on = threading.Event()

    def counted(
        self: OffsetDatabase, changes: dict[tuple[str, str, int], object], through: int | None
    ) -> None:
        assert go_on.wait(PATIENCE_S)
        sizes.append(len(changes))
        write(self, changes, through)  # type: ignore[arg-type]

    monkeypatch.setattr(OffsetDatabase, "write", counted)
    repository = sqlite.repository
    outcomes: list[object] = []
    for n in range(60):
        repository.apply([row(n, f"g{n}", partition=p) for p in range(6)], outcomes.append)
    go_on.set()
    sqlite.settle(lambda: len(outcomes) == 60)
    assert outcomes == [None] * 60
    # The first one may have had its own transaction.
    assert sum(sizes) == 360
    assert max(sizes) <= offset_repository.ROWS_PER_TRANSACTION + 5
    assert len(sizes) <= 6


def test_the_loop_is_never_blocked(postgres: PostgresOffsets) -> None:
    """Another transaction holds the row: only its commit waits."""
    import psycopg

    postgres.keep(row(1))
    outcomes: list[object] = []
    with psycopg.connect(host=str(postgres.server.folder), user="postgres") as other:
        other.execute(f"UPDATE {postgres.schema}.ottla_offsets SET leader_epoch = 7".encode())
        postgres.repository.apply([row(2)], outcomes.append)
        assert outcomes == []
        other.rollback()
    postgres.settle(lambda: bool(outcomes))
    assert outcomes == [None]


def test_close_persists_queued_commits(sqlite: SqliteOffsets) -> None:
    for n in range(500):
        sqlite.repository.apply([row(n, f"g{n:03}")], lambda failure: None)
    sqlite.reopen()
    assert sqlite.rows() == [row(n, f"g{n:03}") for n in range(500)]


# ---- an unresponsive database


def test_a_locked_table_fails_commits_after_a_timeout(
    postgres: PostgresOffsets, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setattr(offset_database, "STATEMENT_TIMEOUT_MS", 100)
    postgres.reopen()
    postgres.load()
    postgres.keep(row(1))
    with psycopg.connect(host=str(postgres.server.folder), user="postgres") as other:
        other.execute(f"LOCK TABLE {postgres.schema}.ottla_offsets".encode())
        failure = postgres.outcome(row(2))
        assert isinstance(failure, StorageFailed)
        assert "canceling statement due to statement timeout" in failure.message
        other.rollback()
    postgres.keep(row(3))


class Hanging:
    """A database that responds to nothing until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.goes_on = threading.Event(), threading.Event()
        write = OffsetDatabase.write

        def hang(database: OffsetDatabase, changes: object, through: int | None) -> None:
            self.entered.set()
            assert self.goes_on.wait(PATIENCE_S)
            write(database, changes, through)  # type: ignore[arg-type]

        monkeypatch.setattr(OffsetDatabase, "write", hang)


def test_an_unresponsive_database_is_logged_once(
    sqlite: SqliteOffsets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offset_repository, "SLOW_S", 0.0)
    hanging = Hanging(monkeypatch)
    outcomes: list[object] = []
    sqlite.repository.apply([row(1)], outcomes.append)
    assert hanging.entered.wait(PATIENCE_S)
    for n in range(3):
        sqlite.repository.apply([row(n)], outcomes.append)
    words = "offsets_database_slow"
    assert len(sqlite.events.of(words)) == 1
    hanging.goes_on.set()
    sqlite.settle(lambda: len(outcomes) == 4)
    assert outcomes == [None] * 4


def test_commits_fail_when_the_queue_is_full(
    sqlite: SqliteOffsets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offset_repository, "ROWS_WAITING_MAX", 10)
    hanging = Hanging(monkeypatch)
    outcomes: list[object] = []
    for n in range(6):
        sqlite.repository.apply([row(n, partition=p) for p in range(2)], outcomes.append)
    assert hanging.entered.wait(PATIENCE_S)
    assert outcomes == [], "the callback does not run within the call"
    sqlite.settle(lambda: len(outcomes) == 1)
    (failure,) = outcomes
    assert isinstance(failure, StorageFailed)
    hanging.goes_on.set()
    sqlite.settle(lambda: len(outcomes) == 6)
    sqlite.keep(*(row(7, partition=p) for p in range(20)))


def test_close_has_a_time_limit(sqlite: SqliteOffsets, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_repository, "CLOSING_S", 0.05)
    hanging = Hanging(monkeypatch)
    sqlite.repository.apply([row(1)], lambda failure: None)
    assert hanging.entered.wait(PATIENCE_S)
    sqlite.close()
    assert sqlite.events.of("offsets_database_close_timed_out")
    hanging.goes_on.set()
    monkeypatch.setattr(offset_repository, "CLOSING_S", PATIENCE_S)


# ---- lost connections


def test_a_dropped_connection_is_opened_again(postgres: PostgresOffsets) -> None:
    postgres.keep(row(1))
    postgres.server.execute(DISCONNECT_ALL)
    postgres.keep(row(2))
    postgres.reopen()
    assert postgres.rows() == [row(2)]


def test_commits_fail_without_the_server_and_succeed_when_it_is_back(own_server: Postgres) -> None:
    opened = Opened(own_server.url())
    opened.until(lambda: opened.loaded)
    assert opened.outcome(1) is None
    own_server.stop()
    for offset in (2, 3):
        failure = opened.outcome(offset)
        assert isinstance(failure, StorageFailed)
        assert "\n" not in failure.message
    assert len(opened.events.of("offsets_database_failed")) in (1, 2)
    own_server.start()
    assert opened.outcome(4) is None
    opened.until(lambda: opened.events.of("offsets_database_recovered"))
    opened.repository.close()
    rows = own_server.execute("SELECT committed_offset FROM ottla_offsets")
    assert rows == [(4,)]


def test_loading_waits_for_a_server_that_is_not_up_yet(
    own_server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offset_repository, "RETRY_S", 0.05)
    monkeypatch.setattr(offset_repository, "LONGEST_RETRY_S", 0.05)
    own_server.stop()
    opened = Opened(own_server.url(password="hunter2"))
    opened.until(lambda: opened.events.of("offsets_database_failed"))
    assert not opened.loaded
    own_server.start()
    opened.until(lambda: opened.loaded)
    assert opened.outcome(1) is None
    opened.repository.close()
    assert "hunter2" not in repr(opened.events.lines)
    assert not opened.refusals


def test_a_user_without_the_right_to_create_tables_is_refused(own_server: Postgres) -> None:
    own_server.execute("CREATE ROLE guest LOGIN PASSWORD 'hunter2'")
    refusal = Opened(own_server.url(user="guest", password="hunter2")).refusal()
    assert refusal == "permission denied for schema public"


def test_a_damaged_row_ends_the_broker_in_one_line(sqlite: SqliteOffsets) -> None:
    sqlite.keep(row(1))
    sqlite.execute("UPDATE ottla_offsets SET metadata = x'ff'")
    refusal = Opened(sqlite.url(), store=sqlite.store).refusal()
    assert refusal.startswith("what is in it cannot be read: 'utf-8' codec can't decode")


def test_a_damaged_file_ends_the_broker_in_one_line(sqlite: SqliteOffsets) -> None:
    sqlite.keep(*(row(n, partition=n) for n in range(2000)))
    sqlite.close()
    whole = sqlite.file().read_bytes()
    sqlite.file().write_bytes(whole[: len(whole) // 2] + bytes(len(whole) // 2))
    refusal = Opened(sqlite.url(), store=sqlite.store).refusal()
    assert refusal == "database disk image is malformed"


def test_loading_waits_for_a_locked_file(
    sqlite: SqliteOffsets, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a copy of the folder."""
    monkeypatch.setattr(offset_repository, "RETRY_S", 0.05)
    monkeypatch.setattr(offset_database, "SQLITE_WAIT_S", 0.05)
    sqlite.keep(row(1))
    sqlite.close()
    with closing(sqlite3.connect(sqlite.file(), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        opened = Opened(sqlite.url(), store=sqlite.store)
        opened.until(lambda: opened.events.of("offsets_database_failed"))
        assert not opened.loaded
        other.execute("ROLLBACK")
    opened.until(lambda: opened.loaded)
    assert opened.rows == [row(1)]
    opened.repository.close()


def test_loaded_offsets_are_logged_at_start(sqlite: SqliteOffsets) -> None:
    sqlite.keep(row(5))
    sqlite.reopen()
    assert sqlite.rows() == [row(5)]
    assert sqlite.events.of("offsets_loading")
    assert sqlite.events.of("offsets_loaded")[-1]["offsets"] == 1
