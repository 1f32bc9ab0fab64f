"""Other brokers, databases that went back in time, and servers that refuse a commit."""

from __future__ import annotations

import threading

import pytest

from infrastructure.storage.errors import StorageInUse
from infrastructure.storage.postgresql import opening, session
from tests.contract.relayed_postgres import (
    Held,
    RelayedPostgres,
    RelayedStore,
    Taking,
    held_commit,
    wait_for_waiting,
)

# ---- other brokers


def test_each_start_has_a_new_leader_epoch(relayed: RelayedPostgres) -> None:
    """The database may have lost commits since the last one."""
    for losses in range(3):
        store = relayed.open(through_relay=False)
        assert store.storage.info.losses == losses
        store.close()


def test_another_broker_takes_over(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    relayed.relay.refuse()
    relayed.relay.cut()
    other = relayed.open(through_relay=False)
    other.keep(1)
    relayed.relay.accept()
    for _ in range(2):
        opened.append(5)
        assert str(opened.commit()) == (
            "another broker has ended the session of this one; restart the broker"
        )
    other.keep(2)
    assert relayed.last_offsets() == [0, 1, 2]


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_session_is_taken_before_a_commit(
    relayed: RelayedPostgres, opened: RelayedStore, is_cut: bool
) -> None:
    Taking(relayed).take_and_commit()
    if is_cut:
        relayed.relay.cut()
    opened.append(1)
    assert "another broker" in str(opened.commit())
    assert relayed.last_offsets() == [0]
    assert relayed.last_session() == (7, 1)


def test_a_session_is_taken_while_a_commit_waits(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    """The take is first."""
    taking = Taking(relayed)
    taking.take()
    opened.append(1)
    running = opened.begin()
    wait_for_waiting(relayed, 1)
    taking.commit()
    assert "another broker" in str(running.outcome())
    assert relayed.last_offsets() == [0]


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_session_is_taken_behind_a_commit(
    relayed: RelayedPostgres, opened: RelayedStore, is_lost: bool
) -> None:
    """It was persisted before: that is reported, also if the response was lost."""
    held = Held(relayed)
    if is_lost:
        relayed.relay.cut_at_response()
        relayed.relay.refuse()
    opened.append(1)
    running = opened.begin()
    wait_for_waiting(relayed, 1)
    taking = threading.Thread(target=Taking(relayed).take_and_commit)
    taking.start()
    wait_for_waiting(relayed, 2)
    held.release()
    taking.join()
    if is_lost:
        relayed.relay.wait()
        relayed.relay.accept()
    assert running.outcome() is None
    assert relayed.last_offsets() == [0, 1]
    opened.append(2)
    assert "another broker" in str(opened.commit())
    assert relayed.last_offsets() == [0, 1]
    assert relayed.last_session() == (7, 2)


def test_a_commit_that_was_void_when_the_session_was_taken(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    """The other broker has written as much as this one wanted to."""
    relayed.relay.cut_at_request()
    relayed.relay.refuse()
    opened.append(1)
    running = opened.begin()
    relayed.relay.wait()
    other = relayed.open(through_relay=False)
    other.keep(7)
    relayed.relay.accept()
    assert "another broker" in str(running.outcome())
    assert relayed.last_offsets() == [0, 7]


def test_the_lock_is_taken_again_with_a_connection(
    relayed: RelayedPostgres, opened: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server had not noticed that the one before was lost, and would keep it for that."""
    monkeypatch.setattr(session, "LOCK_S", 0)
    [(before,)] = relayed.execute("select pid from pg_locks where locktype = 'advisory'")
    relayed.relay.cut(is_noticed=False)
    opened.keep(1)
    [(now,)] = relayed.execute("select pid from pg_locks where locktype = 'advisory'")
    assert now != before
    with pytest.raises(StorageInUse, match="in use by process"):
        relayed.open()


# ---- a database that went back


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_database_that_lost_commits(
    relayed: RelayedPostgres, opened: RelayedStore, is_cut: bool
) -> None:
    opened.keep(1, 2)
    if is_cut:
        relayed.relay.cut()
    relayed.execute("update ottla_fences set seq = 2")
    for _ in range(2):
        opened.append(3)
        assert "PostgreSQL has commit 2, not 3: it lost or gained commits" in str(opened.commit())
    assert relayed.last_offsets() == [0, 1, 2]


def test_a_database_that_lost_the_session(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    relayed.relay.cut()
    relayed.execute("delete from ottla_sessions", "update ottla_fences set session = 0")
    opened.append(1)
    assert "does not know this session: it has lost commits" in str(opened.commit())
    assert relayed.last_offsets() == [0]


# ---- refusals


def test_a_statement_that_is_refused(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    relayed.execute(
        "create function refuses() returns trigger language plpgsql as"
        " 'begin raise exception ''no room'' using errcode = ''53100''; end'",
        "create trigger refuses before insert on ottla_rows execute function refuses()",
    )
    opened.append(1)
    assert str(opened.commit()) == "PostgreSQL refused a commit: no room"
    relayed.execute("drop trigger refuses on ottla_rows")
    assert relayed.last_offsets() == [0]
    opened.keep(1)


@pytest.mark.parametrize("is_known", [True, False])
def test_an_entry_that_is_there_already(
    relayed: RelayedPostgres, opened: RelayedStore, is_known: bool
) -> None:
    why = "partition 1 has a batch behind 0 already"
    if not is_known:
        opened.storage.log._contents.ends[1] = 0
        why = "refused a commit: duplicate key"
    opened.append(0, b"another")
    assert why in str(opened.commit())
    opened.keep(1)
    assert relayed.last_offsets() == [0, 1]
    assert b"another" not in opened.read()


def test_a_statement_that_is_cancelled_was_refused(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    held, running = held_commit(relayed, opened)
    relayed.execute(
        "select pg_cancel_backend(l.pid) from pg_locks l join pg_stat_activity using (pid)"
        " where not l.granted and application_name like 'ottla %'"
    )
    assert "refused a commit: canceling statement" in str(running.outcome())
    held.release()
    assert relayed.last_offsets() == [0]
    opened.keep(1)


def test_limits_of_the_role_do_not_count(relayed: RelayedPostgres) -> None:
    relayed.execute("alter role postgres set statement_timeout = 300")
    try:
        opened = relayed.open()
    finally:
        relayed.execute("set statement_timeout = 0", "alter role postgres reset statement_timeout")
    relayed.execute(
        "create function waits() returns trigger language plpgsql as"
        " 'begin perform pg_sleep(0.4); return new; end'",
        "create trigger waits before insert on ottla_rows execute function waits()",
    )
    opened.keep(0)


# ---- roles


def test_a_role_needs_only_a_schema_of_its_own(relayed: RelayedPostgres) -> None:
    """Not the right to make one in the database."""
    role = schema = relayed.schema
    relayed.server.execute(
        "revoke create on database postgres from public",
        f"create role {role} login",
        f"create schema {schema} authorization {role}",
    )
    place = f"{role}@/postgres?host={relayed.server.folder}&schema={schema}"
    for _ in range(2):
        opening.opened(place, "commit", None).commit.close()
