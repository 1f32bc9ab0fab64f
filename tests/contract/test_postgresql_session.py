"""Lost connections, other brokers, and databases that went back in time, at each point of a commit.

What is reported persisted is there, once; what is reported failed is not, and never will be.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator

import psycopg
import pytest

from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageInUse
from infrastructure.storage.postgresql import reading, session
from tests.contract.batches import batch
from tests.contract.postgres_server import running_postgres
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore


@pytest.fixture(params=["waits", "later"])
def postgres(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RelayedPostgres]:
    monkeypatch.setattr(session, "RETRY_S", 0.01)
    relayed = RelayedPostgres(running_postgres(), request.param == "later")
    yield relayed
    relayed.close()


@pytest.fixture
def store(postgres: RelayedPostgres) -> RelayedStore:
    """With one batch; its statements are prepared."""
    opened = postgres.open()
    opened.keep(0)
    return opened


class Held:
    """Statements that write the store wait for this transaction."""

    def __init__(self, postgres: RelayedPostgres) -> None:
        self._connection = psycopg.connect(
            host=str(postgres.server.folder), user="postgres", dbname="postgres"
        )
        self._connection.execute(f"set search_path = {postgres.schema}".encode())
        self._connection.execute("select * from ottla_store for update")

    def release(self) -> None:
        self._connection.close()


def wait_for_waiting(postgres: RelayedPostgres, statements: int) -> None:
    """Until so many wait for others to end."""
    with psycopg.connect(
        host=str(postgres.server.folder), user="postgres", dbname="postgres", autocommit=True
    ) as asking:
        waiting = 0
        while waiting < statements:
            [(waiting,)] = asking.execute(
                "select count(distinct pid) from pg_locks where not granted"
            ).fetchall()


# ---- lost connections


def test_a_connection_that_was_lost_before_a_commit(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    postgres.relay.cut()
    store.keep(1, 2)
    assert postgres.last_offsets() == [0, 1, 2]


def test_a_response_that_is_lost_with_the_connection(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    old_session, _ = postgres.last_session()
    postgres.relay.cut_at_response()
    store.keep(1)
    postgres.relay.wait()
    assert postgres.last_offsets() == [0, 1]
    new_session, seq = postgres.last_session()
    assert new_session != old_session
    assert seq == 2, "it was sent once"
    store.keep(2)
    assert postgres.last_offsets() == [0, 1, 2]


def test_a_statement_that_is_lost_with_the_connection(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    postgres.relay.cut_at_request()
    store.keep(1)
    postgres.relay.wait()
    store.keep(2)
    assert postgres.last_offsets() == [0, 1, 2]
    assert postgres.last_session()[1] == 3


@pytest.mark.parametrize("is_request", [True, False], ids=["request", "response"])
def test_what_is_lost_without_a_word_is_waited_for(
    postgres: RelayedPostgres, store: RelayedStore, is_request: bool
) -> None:
    postgres.relay.lose(requests=is_request, responses=not is_request)
    store.append(1)
    running = store.begin()
    postgres.relay.wait()
    assert not running.is_over
    postgres.relay.pass_all()
    postgres.relay.cut()
    assert running.outcome() is None
    store.keep(2)
    assert postgres.last_offsets() == [0, 1, 2]


@pytest.mark.parametrize("responses", range(6))
def test_the_connection_is_lost_again_while_the_outcome_is_asked_for(
    postgres: RelayedPostgres, store: RelayedStore, responses: int
) -> None:
    """Also after the next session was taken, which the broker does not know then."""
    postgres.relay.cut()
    postgres.relay.cut_at_response(responses)
    store.keep(1)
    store.keep(2, 3)
    assert postgres.last_offsets() == [0, 1, 2, 3]


@pytest.mark.parametrize("responses", range(1, 6))
def test_the_connection_is_lost_twice(
    postgres: RelayedPostgres, store: RelayedStore, responses: int
) -> None:
    postgres.relay.cut_at_response()
    store.append(1)
    running = store.begin()
    postgres.relay.wait()
    postgres.relay.cut_at_response(responses)
    assert running.outcome() is None
    store.keep(2, 3)
    assert postgres.last_offsets() == [0, 1, 2, 3]


def test_a_connection_that_was_lost_in_both_directions(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    """The commit under way and the end of its backend: the server has not noticed anything."""
    held = Held(postgres)
    store.append(1)
    running = store.begin()
    wait_for_waiting(postgres, 1)
    postgres.relay.cut()
    held.release()
    assert running.outcome() is None
    assert postgres.last_offsets() == [0, 1]


def test_backends_that_are_ended(postgres: RelayedPostgres, store: RelayedStore) -> None:
    for _ in postgres.backends():
        postgres.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
            " where application_name like 'ottla %' and pid <> pg_backend_pid()"
        )
    store.keep(1)
    held = Held(postgres)
    store.append(2)
    running = store.begin()
    wait_for_waiting(postgres, 1)
    postgres.execute(
        "select pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity using (pid)"
        " where not l.granted and application_name like 'ottla %'"
    )
    held.release()
    assert running.outcome() is None
    store.keep(3)
    assert postgres.last_offsets() == [0, 1, 2, 3]


def test_a_server_that_is_restarted_between_commits(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    postgres.server.stop()
    postgres.server.start()
    store.keep(1)
    assert postgres.last_offsets() == [0, 1]
    assert store.read(1)


def test_a_server_that_is_restarted_during_a_commit(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    held = Held(postgres)
    store.append(1)
    running = store.begin()
    wait_for_waiting(postgres, 1)
    postgres.server.stop()
    held.release()
    assert not running.is_over
    postgres.server.start()
    assert running.outcome() is None
    assert postgres.last_offsets() == [0, 1]


# ---- for how long


def test_a_server_that_is_away_for_too_long(postgres: RelayedPostgres) -> None:
    store = postgres.open(patience_s=0)
    store.keep(0)
    postgres.relay.refuse()
    postgres.relay.cut()
    for _ in range(2):
        store.append(1)
        assert "cannot be reached" in str(store.commit())
    postgres.relay.accept()
    assert postgres.last_offsets() == [0]
    store.keep(1)
    assert postgres.last_offsets() == [0, 1]


def test_a_commit_that_was_sent_waits_for_longer(postgres: RelayedPostgres) -> None:
    store = postgres.open(patience_s=0)
    store.keep(0)
    postgres.relay.end_next(3)
    postgres.relay.lose(responses=True)
    store.append(1)
    running = store.begin()
    postgres.relay.wait()
    postgres.relay.cut()
    postgres.relay.pass_all()
    assert running.outcome() is None
    assert postgres.last_offsets() == [0, 1]


def test_a_commit_is_not_sent_for_ever(postgres: RelayedPostgres) -> None:
    """It may be what the server fails of."""
    store = postgres.open(patience_s=0)
    store.keep(0)
    postgres.execute(
        "create function ends() returns trigger language plpgsql as"
        " 'begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(60); end'",
        "create trigger ends before insert on ottla_entries for each row execute function ends()",
    )
    store.append(1)
    assert "cannot be reached" in str(store.commit())
    postgres.execute("drop trigger ends on ottla_entries")
    assert postgres.last_offsets() == [0]
    store.keep(1)


def test_closing_ends_a_commit_without_a_response(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    postgres.relay.lose(responses=True)
    store.append(1)
    running = store.begin()
    postgres.relay.wait()
    store.close()
    assert running.is_over or not store.is_later
    assert "closed" in str(running.outcome())


def test_closing_ends_a_commit_whose_server_is_away(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    postgres.relay.refuse()
    postgres.relay.cut_at_request()
    store.append(1)
    running = store.begin()
    postgres.relay.wait()
    store.close()
    assert "closed" in str(running.outcome())
    postgres.relay.accept()
    store.append(1)
    assert store.commit() is not None, "a closed store connects no more"
    assert postgres.last_offsets() == [0]


# ---- other brokers


def test_another_broker_takes_over(postgres: RelayedPostgres, store: RelayedStore) -> None:
    with pytest.raises(StorageInUse):
        postgres.open()
    postgres.relay.refuse()
    postgres.relay.cut()
    other = postgres.open(through_relay=False)
    other.keep(1)
    postgres.relay.accept()
    for _ in range(2):
        store.append(5)
        assert str(store.commit()) == (
            "another broker has taken over the store; restart the broker"
        )
    other.keep(2)
    assert postgres.last_offsets() == [0, 1, 2]


class Taking:
    """A broker that takes the session, and commits that when it is told to."""

    def __init__(self, postgres: RelayedPostgres) -> None:
        [(self._session, _)] = postgres.execute("select session, seq from ottla_store")
        self._connection = psycopg.connect(
            host=str(postgres.server.folder), user="postgres", dbname="postgres"
        )
        self._connection.execute(f"set search_path = {postgres.schema}".encode())

    def take(self) -> None:
        self._connection.execute(session._TAKE, {"old": self._session, "new": 7})

    def commit(self) -> None:
        self._connection.commit()
        self._connection.close()

    def take_and_commit(self) -> None:
        self.take()
        self.commit()


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_session_is_taken_before_a_commit(
    postgres: RelayedPostgres, store: RelayedStore, is_cut: bool
) -> None:
    Taking(postgres).take_and_commit()
    if is_cut:
        postgres.relay.cut()
    store.append(1)
    assert "another broker" in str(store.commit())
    assert postgres.last_offsets() == [0]
    assert postgres.last_session() == (7, 1)


def test_a_session_is_taken_while_a_commit_waits(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    """The take is first."""
    taking = Taking(postgres)
    taking.take()
    store.append(1)
    running = store.begin()
    wait_for_waiting(postgres, 1)
    taking.commit()
    assert "another broker" in str(running.outcome())
    assert postgres.last_offsets() == [0]


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_session_is_taken_behind_a_commit(
    postgres: RelayedPostgres, store: RelayedStore, is_lost: bool
) -> None:
    """It was persisted before: that is reported, also if the response was lost."""
    held = Held(postgres)
    if is_lost:
        postgres.relay.cut_at_response()
        postgres.relay.refuse()
    store.append(1)
    running = store.begin()
    wait_for_waiting(postgres, 1)
    taking = threading.Thread(target=Taking(postgres).take_and_commit)
    taking.start()
    wait_for_waiting(postgres, 2)
    held.release()
    taking.join()
    if is_lost:
        postgres.relay.wait()
        postgres.relay.accept()
    assert running.outcome() is None
    assert postgres.last_offsets() == [0, 1]
    store.append(2)
    assert "another broker" in str(store.commit())
    assert postgres.last_offsets() == [0, 1]
    assert postgres.last_session() == (7, 2)


def test_a_commit_that_was_void_when_the_session_was_taken(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    """The other broker has written as much as this one wanted to."""
    postgres.relay.cut_at_request()
    postgres.relay.refuse()
    store.append(1)
    running = store.begin()
    postgres.relay.wait()
    other = postgres.open(through_relay=False)
    other.keep(7)
    postgres.relay.accept()
    assert "another broker" in str(running.outcome())
    assert postgres.last_offsets() == [0, 7]


def test_the_lock_is_taken_again_with_a_connection(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    """Though the backend before had it until then."""
    postgres.relay.lose(responses=True)
    store.append(1)
    running = store.begin()
    postgres.relay.wait()
    postgres.relay.pass_all()
    postgres.relay.cut()
    assert running.outcome() is None
    with pytest.raises(StorageInUse, match="in use by process"):
        postgres.open()


# ---- a database that went back


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_database_that_lost_commits(
    postgres: RelayedPostgres, store: RelayedStore, is_cut: bool
) -> None:
    store.keep(1, 2)
    if is_cut:
        postgres.relay.cut()
    postgres.execute("update ottla_store set seq = 2")
    for _ in range(2):
        store.append(3)
        assert "PostgreSQL has commit 2, not 3: it lost or gained commits" in str(store.commit())
    assert postgres.last_offsets() == [0, 1, 2]


def test_a_database_that_lost_the_session(postgres: RelayedPostgres, store: RelayedStore) -> None:
    postgres.relay.cut()
    postgres.execute("delete from ottla_sessions", "update ottla_store set session = 0")
    store.append(1)
    assert "does not know this session: it has lost commits" in str(store.commit())
    assert postgres.last_offsets() == [0]


# ---- refusals


def test_a_statement_that_is_refused(postgres: RelayedPostgres, store: RelayedStore) -> None:
    postgres.execute(
        "create function refuses() returns trigger language plpgsql as"
        " 'begin raise exception ''no room'' using errcode = ''53100''; end'",
        "create trigger refuses before insert on ottla_rows execute function refuses()",
    )
    store.append(1)
    assert str(store.commit()) == "PostgreSQL refused a commit: no room"
    postgres.execute("drop trigger refuses on ottla_rows")
    assert postgres.last_offsets() == [0]
    store.keep(1)


def test_an_entry_that_is_there_already(postgres: RelayedPostgres, store: RelayedStore) -> None:
    store.append(0, b"another")
    assert "refused a commit: duplicate key" in str(store.commit())
    store.keep(1)
    assert postgres.last_offsets() == [0, 1]
    assert b"another" not in store.read()


def test_a_statement_that_is_cancelled_was_refused(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    held = Held(postgres)
    store.append(1)
    running = store.begin()
    wait_for_waiting(postgres, 1)
    postgres.execute(
        "select pg_cancel_backend(l.pid) from pg_locks l join pg_stat_activity using (pid)"
        " where not l.granted and application_name like 'ottla %'"
    )
    assert "refused a commit: canceling statement" in str(running.outcome())
    held.release()
    assert postgres.last_offsets() == [0]
    store.keep(1)


def test_limits_of_the_role_do_not_count(postgres: RelayedPostgres) -> None:
    postgres.execute("alter role postgres set statement_timeout = 300")
    try:
        store = postgres.open()
    finally:
        postgres.execute("set statement_timeout = 0", "alter role postgres reset statement_timeout")
    postgres.execute(
        "create function waits() returns trigger language plpgsql as"
        " 'begin perform pg_sleep(0.4); return new; end'",
        "create trigger waits before insert on ottla_rows execute function waits()",
    )
    store.keep(0)


# ---- reads


def test_a_lost_reading_connection_is_made_again(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    store.keep(1)
    postgres.relay.cut()
    assert store.read(1)
    postgres.relay.cut_at_response()
    assert store.read(1)


def test_a_read_while_the_server_is_away(
    postgres: RelayedPostgres, store: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.relay.refuse()
    postgres.relay.cut()
    for _ in range(2):
        with pytest.raises(StorageFailed, match="could not be read"):
            store.read()
    postgres.relay.accept()
    assert store.read()


def test_a_failed_read_that_was_abandoned_fails_no_later_one(
    postgres: RelayedPostgres, store: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not store.is_later:
        pytest.skip("nobody else waits")
    postgres.relay.refuse()
    postgres.relay.cut()
    store.storage.log._contents.cache.clear()
    with pytest.raises(Exception) as abandoned:  # noqa: PT011
        store.storage.log.read(1, 0, 1 << 62, 1 << 62, True)
    assert abandoned.typename == "NotInMemory"
    store.callbacks.get(timeout=10)()
    postgres.relay.accept()
    monkeypatch.setattr(reading, "_FAILURE_S", 0)
    assert store.read()


def test_closing_ends_a_read_without_a_response(
    postgres: RelayedPostgres, store: RelayedStore
) -> None:
    postgres.relay.lose(responses=True)
    store.storage.log._contents.cache.clear()
    failures: list[Exception] = []

    def read() -> None:
        try:
            store.storage.log.read(1, 0, 1 << 62, 1 << 62, True)
        except Exception as error:
            failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    postgres.relay.wait()
    store.close()
    reader.join(10)
    assert not reader.is_alive()
    assert len(failures) == 1


# ---- all of it


@pytest.mark.parametrize("patience_s", [0, session.PATIENCE_S])
@pytest.mark.parametrize("seed", range(2))
def test_any_faults(postgres: RelayedPostgres, seed: int, patience_s: float) -> None:
    chance = random.Random(seed)
    relay = postgres.relay
    store = postgres.open(patience_s)
    store.storage.log.append(2, 5, batch(5))
    assert store.commit() is None
    persisted: list[bytes] = []
    newest = None
    for number in range(30):
        offset = len(persisted)
        one = batch(offset, b"%d" % number)
        store.storage.log.append(1, offset, one)
        store.storage.state.put("t", b"newest", b"%d" % number)
        is_refused = chance.random() < 0.1
        if is_refused:
            store.storage.log.append(2, 5, batch(5))
        fault = chance.randrange(8)
        if fault == 0:
            relay.cut()
        elif fault == 1:
            relay.cut_at_response(chance.randrange(6))
        elif fault == 2:
            relay.cut_at_request()
        elif fault == 3:
            relay.end_next(chance.randrange(1, 3))
            relay.cut()
        elif fault == 4:
            relay.end_next(chance.randrange(1, 3))
            relay.cut_at_response()
        elif fault == 5:
            relay.cut()
            relay.cut_at_response(chance.randrange(1, 6))
        failure = store.commit()
        relay.pass_all()
        if failure is None:
            assert not is_refused
            persisted.append(one)
            newest = b"%d" % number
        elif not is_refused:
            assert "cannot be reached" in str(failure)
            assert patience_s == 0
        assert store.storage.state.get("t", b"newest") == newest
    store.close()
    store = postgres.open()
    assert store.read() == b"".join(persisted)
    assert store.storage.state.get("t", b"newest") == newest
    assert postgres.last_session()[1] == 1 + len(persisted)
