"""Copies of each acknowledged record, counted with a synchronous standby that comes and goes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.postgresql import session
from infrastructure.storage.postgresql.address import parse_address
from infrastructure.storage.postgresql.facts import examined
from infrastructure.storage.postgresql.opening import opened
from infrastructure.storage.postgresql.server import Server, check_server
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers
from tests.contract.postgres_server import postgres_with_standby
from tests.e2e.broker_process import wait_until
from tests.fakes.postgres import Postgres


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres_with_standby() as server:
        # That a wait was cancelled is a warning.
        server.execute("alter role postgres set client_min_messages = error")
        yield server


@pytest.fixture
def cluster(server: Postgres) -> Iterator[JoinedBrokers]:
    cluster = JoinedBrokers(server)
    yield cluster
    cluster.close()


def counted(broker: JoinedBroker, count: int) -> None:
    """Waits for it."""
    copies = broker.storage.copies
    assert copies is not None

    def is_reached() -> bool:
        copies.look()
        return copies.count == count

    broker.run_until(is_reached)


def copies_at_the_start(broker: JoinedBroker) -> int:
    assert broker.storage.copies is not None
    return broker.storage.copies.count


def test_a_synchronous_standby_is_a_copy_while_it_is_connected(
    server: Postgres, cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "LONG_S", 0.0)
    broker = cluster.join(1)
    assert copies_at_the_start(broker) == 2
    assert server.standby is not None
    server.standby.stop()
    counted(broker, 1)  # although the lease is not renewed meanwhile
    broker.append(0, 0)
    outcomes = broker.begin()
    counted(broker, 1)
    why = "PostgreSQL waits for a synchronous standby that is not connected"
    broker.run_until(lambda: broker.storage.waits_for() == why)
    assert outcomes == []
    server.standby.start()
    counted(broker, 2)
    broker.run_until(lambda: outcomes)
    assert outcomes == [None] and broker.storage.waits_for() is None


@pytest.mark.parametrize("is_first", [True, False])
def test_of_several_hosts_the_one_that_can_be_written_is_used(
    server: Postgres, is_first: bool
) -> None:
    assert server.standby is not None
    wait_until(lambda: server.standby and server.standby.execute("select pg_is_in_recovery()"))
    folders = [server.standby.folder, server.folder]
    hosts = ",".join(map(str, folders if is_first else folders[::-1]))
    address = parse_address(f"postgres@/postgres?host={hosts}&schema=none")
    with Server(address, "commit").connect() as connection:
        check_server(connection)


def test_a_standby_alone_is_refused(server: Postgres) -> None:
    """It has the store, so nothing else is missing."""
    refused = "the server is a standby, which cannot be written; name the primary, or all of them"
    schema = f"r{uuid4().hex[:20]}"
    opened(
        f"postgres@/postgres?host={server.folder}&schema={schema}", "commit", None
    ).commit.close()
    assert server.standby is not None
    place = f"postgres@/postgres?host={server.standby.folder}&schema={schema}"
    for read_only in (False, True):
        with pytest.raises(StorageUnusable, match=refused):
            opened(place, "commit", None, read_only=read_only)


WAITING = "pg_stat_activity where wait_event = 'SyncRep' and query"


def cancelled_wait(broker: JoinedBroker, server: Postgres, statement: str) -> object:
    """The backend of a statement that waits for the standby, and is cancelled."""
    cancelled = f"select pid, pg_cancel_backend(pid) from {WAITING} ~ '{statement}'"
    found: list[tuple[object, ...]] = []
    broker.run_until(lambda: found or found.extend(server.execute(cancelled)))
    [(backend, _)] = found
    return backend


def with_a_cancelled_commit(
    server: Postgres, cluster: JoinedBrokers
) -> tuple[JoinedBroker, list[StorageFailed | None]]:
    """A broker without its standby, and the outcome of its commit."""
    broker = cluster.join(1)
    assert server.standby is not None
    server.standby.stop()
    counted(broker, 1)
    broker.append(0, 0)
    outcomes = broker.begin()
    cancelled_wait(broker, server, "^with fence ")
    return broker, outcomes


def test_a_commit_that_is_cancelled_while_it_waits_for_the_standby_goes_on_waiting(
    server: Postgres, cluster: JoinedBrokers
) -> None:
    """The server responds that it has succeeded, with a warning."""
    broker, outcomes = with_a_cancelled_commit(server, cluster)
    # The next session waits for the standby, too.
    backend = cancelled_wait(broker, server, "taken as")
    again = f"select 1 from {WAITING} ~ 'taken as' and pid <> {backend}"
    broker.run_until(lambda: outcomes or server.execute(again))
    assert outcomes == []
    assert server.standby is not None
    server.standby.start()
    broker.run_until(lambda: outcomes)
    assert outcomes == [None]


def test_a_commit_of_a_session_that_is_over_waits_for_the_standby_alike(
    server: Postgres, cluster: JoinedBrokers
) -> None:
    """Its outcome is read from what ended the session."""
    broker, outcomes = with_a_cancelled_commit(server, cluster)
    broker.run_until(lambda: server.execute(f"select 1 from {WAITING} ~ 'taken as'"))
    end = """
        with old as (select node_id, session, seq from ottla_fences for update),
        past as (insert into ottla_sessions select session, seq from old)
        update ottla_fences f set session = 0 from old where f.node_id = old.node_id
    """
    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(cluster.execute, "set synchronous_commit = local", end)
        waiting = (
            "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'past as'"
        )
        broker.run_until(lambda: server.execute(waiting))
        cancelled_wait(broker, server, "taken as")
        broker.run_until(ended.done)
    backend = cancelled_wait(broker, server, "returning last_seq")
    again = f"select 1 from {WAITING} ~ 'returning last_seq' and pid <> {backend}"
    broker.run_until(lambda: outcomes or server.execute(again))
    assert outcomes == []
    assert server.standby is not None
    server.standby.start()
    broker.run_until(lambda: outcomes)
    assert outcomes == [None]
    broker.run_until(lambda: broker.fenced)


@pytest.mark.parametrize(
    "names, commit, copies",
    [
        ("*", "on", 2),
        ("FIRST 1 (*)", "remote_write", 2),
        ("any 1 (*, other)", "on", 2),
        ("2 (*, other)", "on", 2),
        ("", "on", 1),
        ("other", "on", 1),
        ("*", "local", 1),
    ],
)
def test_a_standby_counts_if_commits_wait_for_it(
    server: Postgres, names: str, commit: str, copies: int
) -> None:
    """As the doctor shows them, which changes nothing."""
    server.execute(
        f"alter system set synchronous_standby_names = '{names}'",
        f"alter system set synchronous_commit = '{commit}'",
        "select pg_reload_conf()",
    )
    place = f"postgres@/postgres?host={server.folder}&schema=never"
    try:
        # Other processes of the server read the settings when they get to it.
        wait_until(lambda: examined(place).server.copies == copies)
    finally:
        server.execute(
            "alter system set synchronous_standby_names = '*'",
            "alter system reset synchronous_commit",
            "select pg_reload_conf()",
        )


def test_a_role_that_may_not_see_standbys_counts_one_copy(server: Postgres) -> None:
    server.execute("create role plain login")
    place = f"plain@/postgres?host={server.folder}&schema=never"
    found = examined(place).server
    assert (found.copies, found.hidden_standbys) == (1, 1)
    server.execute("grant pg_monitor to plain")
    found = examined(place).server
    assert (found.copies, found.hidden_standbys) == (2, 0)


def test_the_operator_may_say_how_many_copies_there_are(cluster: JoinedBrokers) -> None:
    broker = cluster.join(1, copies=3)
    counted(broker, 3)
