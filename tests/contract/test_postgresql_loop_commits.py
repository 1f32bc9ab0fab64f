"""Commits that the event loop sends by itself, and what it leaves to the thread."""

from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.loading_thread import LoadingThread
from infrastructure.storage.postgresql import loop_commits
from infrastructure.storage.postgresql.writer import Upkeep
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore, held_commit
from tests.fakes.postgres_relay import TIMEOUT_S

pytestmark = pytest.mark.parametrize("relayed", ["later"], indirect=True)
PREPARED = b"select count(*) from pg_prepared_statements where name like 'ottla%'"


@pytest.fixture
def in_thread(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Kinds of what the thread was given."""
    given: list[str] = []
    put = LoadingThread.put

    def noted(self: LoadingThread[object, object], what: object) -> bool:
        if self._name == "ottla-commits":
            given.append(what.name if isinstance(what, Upkeep) else type(what).__name__)
        return put(self, what)

    monkeypatch.setattr(LoadingThread, "put", noted)
    return given


def on_connection(store: RelayedStore, statement: bytes) -> object:
    connection = store.storage.commit._session._link.connection
    assert connection is not None
    cursor = connection.execute(statement)
    return cursor.fetchall() if cursor.description else None


def test_no_thread_has_a_small_commit(
    relayed: RelayedPostgres, in_thread: list[str], opened: RelayedStore
) -> None:
    opened.keep(1, 2)
    assert in_thread == []
    assert relayed.last_offsets() == [0, 1, 2]


def test_the_thread_has_a_large_commit(
    relayed: RelayedPostgres, in_thread: list[str], opened: RelayedStore
) -> None:
    opened.append(1, bytes(loop_commits.MOST_BYTES))
    assert opened.commit() is None
    assert in_thread == ["Staged"]


def test_more_than_the_socket_takes_is_sent_when_it_takes_more(
    relayed: RelayedPostgres, in_thread: list[str], opened: RelayedStore
) -> None:
    relayed.relay.hold()
    opened.append(1, bytes(loop_commits.MOST_BYTES - 1000))
    running = opened.begin()
    assert not running.is_over
    relayed.relay.pass_all()
    assert running.outcome() is None
    assert in_thread == []
    assert relayed.last_offsets() == [0, 1]


def test_upkeep_waits_for_the_commit_under_way_and_comes_before_the_next(
    relayed: RelayedPostgres, in_thread: list[str], opened: RelayedStore
) -> None:
    held, running = held_commit(relayed, opened)
    opened.storage.commit._check()
    assert in_thread == []
    opened.append(2)
    held.release()
    assert running.outcome() is None
    assert in_thread == ["CHECK"]
    assert opened.commit() is None
    assert in_thread == ["CHECK", "Staged"]
    assert relayed.last_offsets() == [0, 1, 2]


def test_a_connection_that_the_server_closes_between_commits_is_watched_no_more(
    relayed: RelayedPostgres, in_thread: list[str], opened: RelayedStore
) -> None:
    """The loop would call back again and again."""
    opened.keep(1)
    assert opened.callbacks._watched
    relayed.relay.cut()
    opened.callbacks.get(timeout=TIMEOUT_S)()
    assert opened.callbacks._watched == {}
    opened.keep(2)
    assert in_thread == ["Staged"]
    assert relayed.last_offsets() == [0, 1, 2]


def test_a_socket_is_not_watched_for_writing_after_the_response(opened: RelayedStore) -> None:
    opened.keep(1)
    commits = opened.loop_commits
    assert commits is not None
    opened.callbacks.add_writer(commits._fd, commits._writable)
    opened.callbacks.get(timeout=TIMEOUT_S)()
    assert opened.callbacks._watched == {}
    opened.keep(2)


def test_a_connection_that_the_thread_uses_is_watched_no_more(
    relayed: RelayedPostgres, in_thread: list[str], opened: RelayedStore
) -> None:
    opened.keep(1)
    opened.storage.commit._check()
    assert in_thread == ["CHECK"]
    assert opened.callbacks._watched == {}
    opened.callbacks.get(timeout=TIMEOUT_S)()
    opened.keep(2)
    assert in_thread == ["CHECK"]
    assert opened.callbacks._watched


def test_a_response_that_is_lost_is_left_to_the_thread(
    relayed: RelayedPostgres, in_thread: list[str], opened: RelayedStore
) -> None:
    relayed.relay.cut_at_response()
    opened.keep(1)
    assert in_thread == ["Sent"]
    opened.keep(2)
    assert in_thread == ["Sent"]
    assert relayed.last_offsets() == [0, 1, 2]
    assert relayed.last_session()[1] == 3


def test_what_is_refused_is_not_sent_again(
    relayed: RelayedPostgres, in_thread: list[str], opened: RelayedStore
) -> None:
    before = relayed.last_session()
    relayed.execute("alter table ottla_rows add constraint few check (place <> '1')")
    opened.append(1)
    failure = opened.commit()
    assert isinstance(failure, StorageFailed) and "refused a commit" in failure.message
    assert relayed.last_session() == before
    relayed.execute("alter table ottla_rows drop constraint few")
    opened.keep(1)
    assert in_thread == []
    assert relayed.last_offsets() == [0, 1]


def test_statements_that_are_gone_are_prepared_again(
    relayed: RelayedPostgres, in_thread: list[str], opened: RelayedStore
) -> None:
    before, _ = relayed.last_session()
    opened.keep(1)
    on_connection(opened, b"deallocate all")
    opened.storage.commit._session._link.connection.prepare_threshold = None  # it forgot them, too
    opened.keep(2, 3)
    assert in_thread == ["Staged"]
    assert relayed.last_session()[0] == before
    assert relayed.last_offsets() == [0, 1, 2, 3]


def test_few_statements_stay_prepared(
    relayed: RelayedPostgres,
    in_thread: list[str],
    opened: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop_commits, "MOST_STATEMENTS", 2)
    before = in_thread.copy()
    for offset in (1, 2):
        opened.keep(offset)
        for value in (b"", None):
            opened.storage.state.put("other", b"key", value)
            assert opened.commit() is None
    assert in_thread == before
    assert on_connection(opened, PREPARED) == [(2,)]
    assert relayed.last_offsets() == [0, 1, 2]


def test_nothing_is_heard_of_a_commit_after_the_end(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    held, running = held_commit(relayed, opened)
    opened.close()
    held.release()
    failure = running.outcome()
    assert isinstance(failure, StorageFailed)
    assert opened.callbacks._watched == {}


def test_without_a_thread_nothing_more_is_committed(
    relayed: RelayedPostgres, opened: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What became of the commit under way cannot be found out."""
    monkeypatch.setattr(LoadingThread, "put", lambda self, what: False)
    relayed.relay.cut_at_response()
    opened.append(1)
    failure = opened.commit()
    assert isinstance(failure, StorageFailed) and "restart the broker" in failure.message
    opened.append(2)
    assert opened.commit() is not None


def test_a_fault_before_anything_is_sent_ends_the_session(
    relayed: RelayedPostgres, opened: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no commit waits for ever."""

    def fail(*_: object) -> None:
        raise RuntimeError("of a test")

    monkeypatch.setattr(loop_commits, "statement_of", fail)
    opened.append(1)
    failure = opened.commit()
    assert isinstance(failure, StorageFailed) and "of a test" in failure.message
    assert opened.callbacks._watched == {}
    assert opened.storage.commit._session.is_over
    opened.append(1)
    assert opened.commit() is not None
    assert relayed.last_offsets() == [0]


def test_a_commit_that_is_left_to_the_thread_has_begun_when_the_loop_sent_it(
    relayed: RelayedPostgres, in_thread: list[str], opened: RelayedStore
) -> None:
    """It takes long from then on."""
    held, running = held_commit(relayed, opened)
    session = opened.storage.commit._session
    began_s = session._began_s
    relayed.relay.cut()
    while not in_thread:
        assert not running.is_over
    held.release()
    assert running.outcome() is None
    assert in_thread == ["Sent"]
    assert session._began_s == began_s
