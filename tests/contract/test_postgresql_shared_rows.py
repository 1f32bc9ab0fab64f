"""Several brokers over one store: the rows that all share, and who may change them."""

from __future__ import annotations

import pytest

from infrastructure.storage.postgresql import leases, watch
from infrastructure.storage.postgresql.server import Rows
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers


def test_a_broker_follows_the_changes_of_others(cluster: JoinedBrokers) -> None:
    first, second = cluster.join(1), cluster.join(2)
    first.put(b"k", b"v")
    assert first.commit() is None
    second.run_until(lambda: second.followed)
    assert second.followed == [("t", b"k")]
    assert second.storage.state.get("t", b"k") == b"v"
    second.put(b"k", None)
    second.put(b"l", b"w")
    assert second.commit() is None
    first.run_until(lambda: len(first.followed) == 2)
    assert first.storage.state.scan("t") == [(b"l", b"w")]
    later = cluster.join(3)
    assert later.storage.state.scan("t") == [(b"l", b"w")]


def test_a_broker_that_was_cut_off_learns_what_was_deleted_meanwhile(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease is over, but no broker has ended its session."""
    monkeypatch.setattr("infrastructure.storage.postgresql.watch._CLEANING_S", 0)
    first, second = cluster.join(1), cluster.join(2, through_relay=True)
    for broker in (first, second):
        broker.announce()
    first.put(b"k", b"v")
    assert first.commit() is None
    second.run_until(lambda: second.storage.state.get("t", b"k") == b"v")
    cluster.relay.hold()
    with cluster.silent(1):
        first.put(b"k", None)
        assert first.commit() is None
        cluster.run_until_over(2)
    first.run_until(lambda: cluster.has_lease(1))
    cluster.relay.pass_all()
    second.run_until(lambda: second.storage.state.get("t", b"k") is None)
    assert second.fenced == 0


class Cleanings:
    """Removals of shared rows that are deleted: one with each renewal of a lease."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._forget_deleted = leases.forget_deleted
        monkeypatch.setattr(watch, "_CLEANING_S", 0)
        monkeypatch.setattr(leases, "forget_deleted", self._clean)

    def _clean(self, connection: Rows, version: int) -> None:
        self._forget_deleted(connection, version)
        self.count += 1

    def run(self, broker: JoinedBroker) -> None:
        """One that begins from now on, to its end."""
        until = self.count + 2
        broker.run_until(lambda: self.count >= until)


_DELETED = "select 1 from ottla_rows where kind = 0 and value is null"


def test_a_starting_broker_that_is_silent_learns_what_was_deleted_meanwhile(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as others have not ended its session."""
    cleanings = Cleanings(monkeypatch)
    monkeypatch.setattr(leases, "fence", lambda *_: False)
    first, second = cluster.join(1), cluster.join(2, through_relay=True)
    first.announce()
    first.put(b"k", b"v")
    assert first.commit() is None
    second.run_until(lambda: second.storage.state.get("t", b"k") == b"v")
    cluster.relay.hold()
    first.put(b"k", None)
    assert first.commit() is None
    cluster.run_until_over(2)
    cleanings.run(first)
    cluster.relay.pass_all()
    second.run_until(lambda: second.storage.state.get("t", b"k") is None)


def test_a_broker_whose_session_was_ended_keeps_nothing_that_is_deleted(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_CLEANING_S", 0)
    first, second = cluster.join(1), cluster.join(2, through_relay=True)
    for broker in (first, second):
        broker.announce()
    first.put(b"k", b"v")
    assert first.commit() is None
    first.run_until(lambda: (2, False) in first.brokers())
    cluster.relay.hold()
    first.put(b"k", None)
    assert first.commit() is None
    assert cluster.execute(_DELETED)
    first.run_until(lambda: not cluster.execute(_DELETED))
    first.run_until(lambda: (2, True) in first.brokers())


def test_brokers_take_turns_to_change_shared_rows(cluster: JoinedBrokers) -> None:
    brokers = [cluster.join(1), cluster.join(2)]
    for number in range(10):
        broker = brokers[number % 2]
        before = int(broker.patiently(lambda broker=broker: counted(broker)))
        broker.storage.state.put("t", b"count", b"%d" % (before + 1))
        assert broker.commit() is None
    assert int(brokers[1].storage.state.get("t", b"count") or 0) == 10


def counted(broker: JoinedBroker) -> bytes:
    """Read with the right to change it."""
    assert broker.storage.cluster_changes is not None
    broker.storage.cluster_changes.check()
    return broker.storage.state.get("t", b"count") or b"0"


def test_a_change_without_the_right_fails_if_another_was_first(cluster: JoinedBrokers) -> None:
    """The lock was lost with its connection; the version of the rows decides."""
    first, second = cluster.join(1), cluster.join(2)
    first.put(b"k", b"1")
    second.storage.state.put("t", b"k", b"2")  # without its turn, and nothing is known of the first
    second.append(7, 0)
    assert first.commit() is None
    assert "Another broker has changed" in str(second.commit())
    assert cluster.execute("select from ottla_runs") == []
    second.put(b"k", b"3")
    assert second.commit() is None


def test_the_right_is_free_when_its_connection_is_lost(cluster: JoinedBrokers) -> None:
    """The server may not notice: the broker ends its former backend."""
    first, second = cluster.join(1), cluster.join(2, through_relay=True)
    second.put(b"k", b"1")
    assert second.commit() is None
    cluster.relay.cut(is_noticed=False)
    first.put(b"k", b"2")
    assert first.commit() is None
