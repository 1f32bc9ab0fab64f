"""The outbox: offsets of transactions reach a database once, through any failure and crash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from application.ports.offset_repository import OffsetRow, OffsetWrite
from domain.errors import StorageFailed
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.repositories.numbered_offsets import OUTBOX, NumberedOffsets
from infrastructure.storage.sql import offset_repository
from tests.contract.offset_engines import REFUSED, PostgresOffsets, SqliteOffsets, SqlOffsets
from tests.contract.test_offset_repository import deletion, row

Done = Callable[[StorageFailed | None], None]


@pytest.fixture(params=[SqliteOffsets, PostgresOffsets], ids=["sqlite", "postgres"])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlOffsets]:
    opened: SqlOffsets = request.param(tmp_path)
    opened.load()
    yield opened
    opened.close()


def outbox(sql: SqlOffsets) -> list[tuple[int, OffsetRow]]:
    """Durable rows."""
    sql.store.keep()
    return list(NumberedOffsets(MemoryStateStore(sql.store), OUTBOX).load())


class HeldCommits:
    """Commits of the log that the test completes, in order."""

    def __init__(self, sql: SqlOffsets) -> None:
        self._store = sql.store
        self._waiting: list[Done] = []
        repository = sql.repository
        assert isinstance(repository, offset_repository.SqlOffsetRepository)
        repository._home.when_committed = self._waiting.append  # type: ignore[method-assign]

    def complete(self, failure: StorageFailed | None = None) -> None:
        if failure is None:
            self._store.keep()
        waiting, self._waiting[:] = list(self._waiting), []
        for done in waiting:
            done(failure)


def apply(sql: SqlOffsets, *writes: OffsetWrite) -> list[StorageFailed | None]:
    outcomes: list[StorageFailed | None] = []
    sql.repository.apply(writes, outcomes.append)
    return outcomes


def apply_with_log(sql: SqlOffsets, *writes: OffsetWrite) -> list[StorageFailed | None]:
    outcomes: list[StorageFailed | None] = []
    sql.repository.apply_with_log(writes, outcomes.append)
    return outcomes


def test_offsets_leave_the_outbox_when_the_database_has_them(sql: SqlOffsets) -> None:
    for offset in (1, 2):
        outcomes = apply_with_log(sql, row(offset))
        assert len(outbox(sql)) == 1
        sql.settle(lambda outcomes=outcomes: bool(outcomes))  # type: ignore[misc]
        assert (outcomes, outbox(sql)) == ([None], [])
    sql.reopen()
    assert sql.rows() == [row(2)]


def test_the_database_has_them_after_the_log_only(sql: SqlOffsets) -> None:
    commits = HeldCommits(sql)
    of_transaction = apply_with_log(sql, row(1))
    plain = apply(sql, row(2))
    lost = apply_with_log(sql, row(3, "h"))
    behind = apply(sql, row(4, "h"))
    assert not of_transaction + plain + lost + behind
    commits.complete()
    sql.settle(lambda: bool(behind))
    assert of_transaction == plain == lost == behind == [None]
    lost = apply_with_log(sql, row(9))
    behind = apply(sql, row(5, partition=1))
    commits.complete(StorageFailed("disk full"))
    sql.settle(lambda: bool(behind))
    assert ([str(one) for one in lost], behind) == (["disk full"], [None])
    sql.reopen()
    assert sql.rows() == [row(2), row(5, partition=1), row(4, "h")]


def test_plain_commits_fail_with_the_database_and_transactions_do_not(
    sql: SqlOffsets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offset_repository, "RETRY_S", 0.02)
    sql.break_next()
    of_transaction = apply_with_log(sql, row(1, partition=REFUSED))
    plain = apply(sql, row(7))
    sql.settle(lambda: bool(plain))
    assert isinstance(plain[0], StorageFailed)
    later = apply_with_log(sql, row(2, partition=REFUSED), row(2))
    assert (of_transaction, later) == ([], [])
    sql.mend()
    sql.settle(lambda: bool(later))
    assert (of_transaction, later, outbox(sql)) == ([None], [None], [])
    sql.reopen()
    assert sql.rows() == [row(2), row(2, partition=REFUSED)]


def test_offsets_in_the_outbox_are_written_at_the_next_start(sql: SqlOffsets) -> None:
    sql.break_next()
    apply_with_log(sql, row(1, partition=REFUSED), row(1, "h"))
    apply_with_log(sql, row(2, partition=REFUSED))
    sql.close()
    sql.mend()
    assert len(outbox(sql)) == 3
    sql.repository = sql.open()
    assert sql.rows() == [row(2, partition=REFUSED), row(1, "h")]
    assert outbox(sql) == []
    outcomes = apply_with_log(sql, row(3, "h"))
    sql.settle(lambda: bool(outcomes))
    sql.reopen()
    assert sql.rows() == [row(2, partition=REFUSED), row(3, "h")]


def test_offsets_that_the_database_has_are_not_written_again(sql: SqlOffsets) -> None:
    """The broker died before the rows left the outbox; meanwhile others were applied."""
    first = apply_with_log(sql, row(1), row(1, "h"))
    sql.settle(lambda: bool(first))
    assert sql.outcomes([row(5)], [deletion("h")]) == [None, None]
    sql.close()
    NumberedOffsets(MemoryStateStore(sql.store), OUTBOX).save(1, [row(1), row(1, "h")])
    sql.store.keep()
    sql.repository = sql.open()
    assert sql.rows() == [row(5)]
    assert outbox(sql) == []
    later = apply_with_log(sql, row(6))
    sql.settle(lambda: bool(later))
    sql.reopen()
    assert sql.rows() == [row(6)]
