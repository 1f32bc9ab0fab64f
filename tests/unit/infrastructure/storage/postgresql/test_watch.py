from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest

from application.ports.log_store import NotInMemory
from domain.cluster.nodes import Node
from infrastructure.storage.engine import Joining
from infrastructure.storage.errors import StorageInUse
from infrastructure.storage.postgresql import leases, shared_rows, watch
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.leases import Beat, Lease
from infrastructure.storage.postgresql.locks import ChangesLock
from infrastructure.storage.postgresql.shared_rows import SharedRows
from infrastructure.storage.postgresql.watch import Watch

SESSION_S, HEARTBEAT_S = 6, 2
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class Fixture:
    """The watch of broker 3, without its thread. A test has its loop, clock and connections."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.calls: list[Callable[[], None]] = []
        #: When each broker has last renewed its lease.
        self.renewed = {1: 0.0, 2: 0.0, 3: 0.0}
        self.fenced: list[int] = []
        #: Broker 2 starts.
        self.starts = False
        #: Of the statement that ends a session.
        self.fencing_s = 0.0
        monkeypatch.setattr(watch, "monotonic", lambda: self.now)
        monkeypatch.setattr(watch, "RETRY_S", 0)
        monkeypatch.setattr(leases, "renew", self._renew)
        monkeypatch.setattr(leases, "fence", self._fence)
        self.contents = Contents(3)
        session: Any = SimpleNamespace(numbers=(1, 2))
        joining = Joining(Node(3), "1.0", SESSION_S * 1000, HEARTBEAT_S * 1000, print)
        self.connection = connection()
        self.watch = Watch(
            cast(Any, None), self.connection, session, self.contents, joining, self.calls.append
        )

    def _renew(self, *_: object) -> Beat:
        found = []
        for node_id, at in self.renewed.items():
            until = BEGIN + timedelta(seconds=at)
            starts = self.starts and node_id == 2
            found.append(Lease(node_id, node_id, starts, False, until, 0, "", {}))
        return Beat(True, 0, found)

    def _fence(self, connection: object, lease: Lease, *_: object) -> bool:
        self.fenced.append(lease.node_id)
        self.now += self.fencing_s
        return True

    def beat(self, at: float, *renewed: int) -> None:
        """These have renewed their leases just before."""
        self.now = 100.0 + at
        self.renewed.update(dict.fromkeys(renewed, at))
        self.watch._beat(self.connection)

    def run(self) -> None:
        """What was posted until now."""
        calls, self.calls[:] = list(self.calls), []
        for call in calls:
            call()

    def lose_connection(self) -> None:
        self.watch._lose_connection()
        self.connection = self.watch._link.connection = connection()


def connection() -> Any:
    return SimpleNamespace(close=lambda: None)


def free_lock(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """No other broker has it; returns the connections that release it."""
    released: list[object] = []
    monkeypatch.setattr(ChangesLock, "taken", lambda *_: True)
    monkeypatch.setattr(ChangesLock, "release", lambda _, of: released.append(of))
    monkeypatch.setattr(shared_rows, "changed_since", lambda *_: SharedRows(0, 0, []))
    return released


@pytest.fixture
def fixture(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fixture]:
    fixture = Fixture(monkeypatch)
    yield fixture
    fixture.watch._link.drop()
    fixture.watch.close()


def test_a_lease_that_is_not_renewed_for_the_session_timeout_is_over(fixture: Fixture) -> None:
    for at in (0, 2, 4):
        fixture.beat(at, 2, 3)
    assert fixture.fenced == []
    fixture.beat(6, 2, 3)
    assert fixture.fenced == [1]


def test_no_broker_is_silent_while_this_one_ends_the_session_of_another(fixture: Fixture) -> None:
    """However long that takes: the other leases are as they were before."""
    fixture.beat(0, 1, 2, 3)
    fixture.beat(2, 2, 3)
    fixture.beat(4, 3)
    fixture.fencing_s = 7
    fixture.beat(6, 3)
    assert fixture.fenced == [1]


def test_a_release_that_was_asked_for_before_the_connection_was_lost_is_too_late(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right of the next connection is another one: the loop has it as long as the lock."""
    released = free_lock(monkeypatch)
    of_watch, changes = fixture.watch, fixture.watch.changes

    def take_turns(is_asked: bool = False) -> None:
        of_watch._is_asked |= is_asked
        of_watch._take_turns(fixture.connection)

    def may_change() -> bool:
        with suppress(NotInMemory):
            changes.check()
            return True
        return False

    assert not may_change()
    take_turns()
    fixture.run()
    assert may_change()
    fixture.contents.staged.rows["topics", b"t"] = b"row"
    take_turns(is_asked=True)
    fixture.run()  # it is not released while changes are staged
    take_turns(is_asked=True)
    assert not may_change()  # the other broker is before this request
    fixture.contents.end_pass()
    fixture.contents.failed()
    fixture.lose_connection()
    take_turns()
    fixture.run()
    take_turns()
    assert released == []
    assert may_change()
    take_turns(is_asked=True)
    fixture.run()
    take_turns()
    assert released == [fixture.connection]
    assert not may_change()


def test_requests_that_follow_each_other_do_not_keep_the_right_from_another_broker(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = free_lock(monkeypatch)
    of_watch, changes = fixture.watch, fixture.watch.changes

    def next_request() -> None:
        with suppress(NotInMemory):
            changes.check()

    def step() -> None:
        of_watch._take_turns(fixture.connection)
        fixture.run()

    next_request()
    step()
    next_request()
    fixture.contents.staged.rows["topics", b"t"] = b"row"
    of_watch._is_asked = True
    step()
    next_request()  # it waits, and is looked at before the other broker is
    for _ in range(3):
        step()
    assert released == []
    fixture.contents.end_pass()
    fixture.contents.failed()
    step()
    step()
    assert released == [fixture.connection]
    assert changes.wanted
    # It has its turn again, although the other one asks at the same moment.
    fixture.now += 1

    def taken(*_: object) -> bool:
        of_watch._is_asked = True
        return True

    monkeypatch.setattr(ChangesLock, "taken", taken)
    step()
    assert not changes.wanted
    changes.check()


class Waited(Exception):
    pass


def test_a_start_waits_for_the_right_as_long_as_another_broker_starts(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(_: float) -> None:
        fixture.now += 1.0
        fixture.renewed.update(dict.fromkeys((1, 2, 3), fixture.now))
        if fixture.now > 700:
            raise Waited
        fixture.starts = fixture.now < 500

    of_watch = fixture.watch
    monkeypatch.setattr(leases, "register", lambda *_: None)
    monkeypatch.setattr(leases, "tell", lambda *_: None)
    monkeypatch.setattr(of_watch, "_listen", lambda _: None)
    monkeypatch.setattr(of_watch._link.ended, "wait", wait)
    monkeypatch.setattr(ChangesLock, "taken", lambda *_: False)
    monkeypatch.setattr(ChangesLock, "holder", lambda *_: "process 7")
    fixture.starts = True
    with pytest.raises(StorageInUse, match="process 7 does not let others change"):
        of_watch.begin()
    assert 555 < fixture.now < 565


def test_a_promotion_is_told_although_the_first_connection_after_it_fails(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise psycopg.OperationalError("of a test")

    of_watch, promoted = fixture.watch, []
    of_watch.changes.on_promoted(lambda: promoted.append(1))
    of_watch._timeline = 1
    monkeypatch.setattr(watch, "timeline_of", lambda _: 2)
    monkeypatch.setattr(watch, "end_backend", lambda *_: None)
    for listen in (fail, lambda _: None):
        made = SimpleNamespace(
            execute=listen,
            add_notify_handler=lambda _: None,
            info=SimpleNamespace(backend_pid=7),
            close=lambda: None,
        )
        server: Any = SimpleNamespace(
            connect=lambda again, made=made: made, address=SimpleNamespace(schema="s")
        )
        of_watch._server = server
        with suppress(psycopg.OperationalError):
            of_watch._connect()
        fixture.lose_connection()
        fixture.run()
    assert promoted == [1]


@pytest.mark.timeout(20)
def test_the_loop_waits_for_nothing_when_it_wakes_the_thread(fixture: Fixture) -> None:
    for _ in range(100_000):  # more than a pipe has room for
        fixture.watch.wake()


def test_each_right_is_asked_for_at_once(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also just after the one before, which another broker has got since."""
    released = free_lock(monkeypatch)
    asked: list[str] = []
    monkeypatch.setattr(leases, "tell", lambda _, what: asked.append(what))
    is_free = False
    monkeypatch.setattr(ChangesLock, "taken", lambda *_: is_free)
    of_watch, changes = fixture.watch, fixture.watch.changes

    def step() -> None:
        of_watch._take_turns(fixture.connection)
        fixture.run()

    for count in (1, 2):
        with suppress(NotInMemory):
            changes.check()
        step()
        step()
        assert len(asked) == count
        is_free = True
        step()
        changes.check()
        of_watch._is_asked = True
        step()
        step()
        assert len(released) == count
        is_free = False
        fixture.now += watch._PAUSE_S
