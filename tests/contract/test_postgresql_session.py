"""Lost connections to PostgreSQL at each point of a commit.

What is reported persisted is there, once; what is reported failed is not, and never will be.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from infrastructure.storage.postgresql import sending, session
from infrastructure.storage.postgresql.address import parse_address
from infrastructure.storage.postgresql.server import Rows, Server, end_backend
from tests.contract.any_faults import any_faults
from tests.contract.relayed_postgres import (
    Held,
    RelayedPostgres,
    RelayedStore,
    held_commit,
    wait_for_waiting,
)

SEEDS = (*range(2), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 30)))


def test_a_connection_that_was_lost_before_a_commit(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    relayed.relay.cut()
    opened.keep(1, 2)
    assert relayed.last_offsets() == [0, 1, 2]


def test_a_response_that_is_lost_with_the_connection(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    old_session, _ = relayed.last_session()
    relayed.relay.cut_at_response()
    opened.keep(1)
    relayed.relay.wait()
    assert relayed.last_offsets() == [0, 1]
    new_session, seq = relayed.last_session()
    assert new_session != old_session
    assert seq == 2, "it was sent once"
    opened.keep(2)
    assert relayed.last_offsets() == [0, 1, 2]


def test_a_statement_that_is_lost_with_the_connection(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    relayed.relay.cut_at_request()
    opened.keep(1)
    relayed.relay.wait()
    opened.keep(2)
    assert relayed.last_offsets() == [0, 1, 2]
    assert relayed.last_session()[1] == 3


@pytest.mark.parametrize("is_request", [True, False], ids=["request", "response"])
def test_what_is_lost_without_a_word_is_waited_for(
    relayed: RelayedPostgres, opened: RelayedStore, is_request: bool
) -> None:
    relayed.relay.lose(requests=is_request, responses=not is_request)
    opened.append(1)
    running = opened.begin()
    relayed.relay.wait()
    assert not running.is_over
    relayed.relay.pass_all()
    relayed.relay.cut()
    assert running.outcome() is None
    opened.keep(2)
    assert relayed.last_offsets() == [0, 1, 2]


@pytest.mark.parametrize("responses", range(6))
def test_the_connection_is_lost_again_while_the_outcome_is_asked_for(
    relayed: RelayedPostgres, opened: RelayedStore, responses: int
) -> None:
    """Also after the next session was taken, which the broker does not know then."""
    relayed.relay.cut()
    relayed.relay.cut_at_response(responses)
    opened.keep(1)
    opened.keep(2, 3)
    assert relayed.last_offsets() == [0, 1, 2, 3]


@pytest.mark.parametrize("responses", range(1, 6))
def test_the_connection_is_lost_twice(
    relayed: RelayedPostgres, opened: RelayedStore, responses: int
) -> None:
    relayed.relay.cut_at_response()
    opened.append(1)
    running = opened.begin()
    relayed.relay.wait()
    relayed.relay.cut_at_response(responses)
    assert running.outcome() is None
    opened.keep(2, 3)
    assert relayed.last_offsets() == [0, 1, 2, 3]


def test_a_connection_that_was_lost_in_both_directions(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    """The commit under way and the end of its backend: the server has not noticed anything."""
    held, running = held_commit(relayed, opened)
    relayed.relay.cut()
    held.release()
    assert running.outcome() is None
    assert relayed.last_offsets() == [0, 1]


def test_backends_that_are_ended(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    relayed.execute(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
        " where application_name like 'ottla %'"
    )
    opened.keep(1)
    held, running = held_commit(relayed, opened, 2)
    relayed.execute(
        "select pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity using (pid)"
        " where not l.granted and application_name like 'ottla %'"
    )
    held.release()
    assert running.outcome() is None
    opened.keep(3)
    assert relayed.last_offsets() == [0, 1, 2, 3]


def test_a_warning_about_a_former_backend_is_none_about_a_standby(
    relayed: RelayedPostgres, opened: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def warned(connection: Rows, backend: int) -> None:
        connection.execute(
            "do $$ begin raise warning 'it did not end' using errcode = '01000'; end $$"
        )

    monkeypatch.setattr(session, "end_backend", warned)
    relayed.relay.cut()
    opened.keep(1)
    assert relayed.last_offsets() == [0, 1]


def test_a_server_that_is_restarted_between_commits(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    relayed.server.stop()
    relayed.server.start()
    opened.keep(1)
    assert relayed.last_offsets() == [0, 1]
    assert opened.read(1)


def test_a_server_that_is_restarted_during_a_commit(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    held, running = held_commit(relayed, opened)
    relayed.server.stop()
    held.release()
    assert not running.is_over
    relayed.server.start()
    assert running.outcome() is None
    assert relayed.last_offsets() == [0, 1]


def test_the_number_of_a_former_backend_may_be_that_of_the_new_one(
    relayed: RelayedPostgres,
) -> None:
    """After a failover: of another server."""
    address = parse_address(f"postgres@/postgres?host={relayed.server.folder}")
    with Server(address, "commit").connect() as connection:
        end_backend(connection, connection.info.backend_pid)
        connection.execute("select 1")


# ---- for how long


def test_a_server_that_is_away_for_too_long(relayed: RelayedPostgres) -> None:
    opened = relayed.open(patience_s=0)
    opened.keep(0)
    relayed.relay.refuse()
    relayed.relay.cut()
    for _ in range(2):
        opened.append(1)
        assert "cannot be reached" in str(opened.commit())
    relayed.relay.accept()
    assert relayed.last_offsets() == [0]
    opened.keep(1)
    assert relayed.last_offsets() == [0, 1]


def test_a_commit_that_was_sent_waits_for_longer(relayed: RelayedPostgres) -> None:
    opened = relayed.open(patience_s=0)
    opened.keep(0)
    opened.prepare()
    relayed.relay.end_next(3)
    relayed.relay.lose(responses=True)
    opened.append(1)
    running = opened.begin()
    relayed.relay.wait()
    relayed.relay.cut()
    relayed.relay.pass_all()
    assert running.outcome() is None
    assert relayed.last_offsets() == [0, 1]


def test_a_commit_is_not_sent_for_ever(relayed: RelayedPostgres) -> None:
    """It may be what the server fails of."""
    opened = relayed.open(patience_s=0)
    opened.keep(0)
    relayed.execute(
        "create function ends() returns trigger language plpgsql as"
        " 'begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(60); end'",
        "create trigger ends before insert on ottla_tail_1 for each row execute function ends()",
    )
    opened.append(1)
    assert "cannot be reached" in str(opened.commit())
    relayed.execute("drop trigger ends on ottla_tail_1")
    assert relayed.last_offsets() == [0]
    opened.keep(1)


def test_closing_ends_a_commit_without_a_response(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    relayed.relay.lose(responses=True)
    opened.append(1)
    running = opened.begin()
    relayed.relay.wait()
    opened.close()
    assert running.is_over or not opened.is_later
    assert "closed" in str(running.outcome())


def test_closing_ends_a_commit_whose_server_is_away(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    relayed.relay.refuse()
    relayed.relay.cut_at_request()
    opened.append(1)
    running = opened.begin()
    relayed.relay.wait()
    opened.close()
    assert "closed" in str(running.outcome())
    relayed.relay.accept()
    opened.append(1)
    assert opened.commit() is not None, "a closed store connects no more"
    assert relayed.last_offsets() == [0]


@pytest.mark.parametrize("relayed", ["waits"], indirect=True)
def test_an_interrupted_commit_is_the_last_one(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    """Of a command: what became of it is not known."""
    held = Held(relayed)

    def interrupt() -> None:
        wait_for_waiting(relayed, 1)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    opened.append(1)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        opened.storage.commit.commit(print)
    interrupting.join()
    held.release()
    opened.append(2)
    assert str(opened.commit()) == "A commit was interrupted; restart the broker"
    assert relayed.last_offsets() == [0]


# ---- all of it


@pytest.mark.parametrize("patience_s", [0, session.PATIENCE_S])
@pytest.mark.parametrize("seed", SEEDS)
def test_any_faults(relayed: RelayedPostgres, seed: int, patience_s: float) -> None:
    any_faults(relayed, seed, patience_s)


@pytest.mark.parametrize(
    "happens",
    [
        test_a_connection_that_was_lost_before_a_commit,
        test_a_response_that_is_lost_with_the_connection,
        test_a_statement_that_is_lost_with_the_connection,
    ],
)
def test_large_commits_are_lost_alike(
    relayed: RelayedPostgres,
    opened: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[RelayedPostgres, RelayedStore], None],
) -> None:
    monkeypatch.setattr(sending, "_LARGE_BYTES", 0)
    happens(relayed, opened)


def test_a_large_commit_that_is_refused(
    relayed: RelayedPostgres, opened: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_LARGE_BYTES", 0)
    relayed.execute("alter table ottla_tail_1 add check (last_offset <> 1)")
    opened.append(1)
    assert "refused a commit" in str(opened.commit())
    opened.keep(2)
    assert relayed.last_offsets() == [0, 2]


def test_a_large_commit_lets_other_threads_run(
    relayed: RelayedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is sent in one call that holds no lock of the interpreter."""
    ways: list[str] = []
    much = sending._sent_much

    def at_once(*arguments: Any) -> bool:
        ways.append(threading.current_thread().name)
        return much(*arguments)

    monkeypatch.setattr(sending, "_sent_much", at_once)
    store = relayed.open(through_relay=False)
    store.keep(0)
    for offset, (name, size_bytes) in enumerate(
        (("small", 10), ("large", sending._LARGE_BYTES)), 1
    ):
        store.append(offset, bytes(size_bytes))
        staged = store.storage.log._contents.end_pass()
        commit = store.storage.commit._writer.do
        committing = threading.Thread(target=commit, args=(staged,), name=name)
        committing.start()
        committing.join()
    assert ways == ["large"]
    assert relayed.last_offsets() == [0, 1, 2]
