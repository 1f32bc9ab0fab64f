"""Several brokers over one store: what they know of each other, and who may write what."""

from __future__ import annotations

import socket
from queue import SimpleQueue
from time import monotonic
from typing import Any

import psycopg
import pytest

from domain.cluster.nodes import BrokerState, Node
from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageInUse, StorageUnusable
from infrastructure.storage.postgresql import leases, shared_rows
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.leases import Beat
from infrastructure.storage.postgresql.locks import ChangesLock
from infrastructure.storage.postgresql.opening import opened
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.shared_rows import SharedRows
from infrastructure.storage.repositories.leader_rows import LEADERS
from tests.contract.joined_brokers import (
    HEARTBEAT_MS,
    LONG_SESSION_MS,
    SESSION_MS,
    TIMEOUT_S,
    JoinedBrokers,
)

P = 7


def key_of(partition_id: int) -> bytes:
    return partition_id.to_bytes(4, "big")


# ---- brokers


def test_a_broker_is_fenced_until_it_is_announced(cluster: JoinedBrokers) -> None:
    first, second = cluster.join(1), cluster.join(2)
    first.run_until(lambda: first.brokers() == [(1, True), (2, True)])
    first.announce()
    first.run_until(lambda: first.brokers() == [(1, False), (2, True)])
    second.run_until(lambda: second.brokers() == [(1, False), (2, True)])
    second.announce()
    first.run_until(lambda: first.brokers() == [(1, False), (2, False)])
    assert first.storage.membership is not None
    [other] = [one for one in first.storage.membership.brokers() if one.node.node_id == 2]
    assert other.node.addresses == {"PLAINTEXT": ("h", 9092)}
    assert other.software == "1.0"


def test_a_broker_that_stops_is_fenced_at_once(cluster: JoinedBrokers) -> None:
    first, second = cluster.join(1), cluster.join(2)
    second.announce()
    first.run_until(lambda: (2, False) in first.brokers())
    second.close()
    first.run_until(lambda: (2, True) in first.brokers())


def test_each_broker_knows_the_sessions_and_leases_of_all(cluster: JoinedBrokers) -> None:
    cluster.session_ms = LONG_SESSION_MS
    first, second = cluster.join(1), cluster.join(2)
    membership, taken = first.storage.membership, second.storage.sessions_taken
    assert membership is not None and taken is not None

    def seen(state: BrokerState, *not_sessions: int) -> bool:
        """Broker 2."""
        found = [one for one in membership.brokers() if one.node.node_id == 2]
        return any(one.state is state and one.session_id not in not_sessions for one in found)

    first.run_until(lambda: seen(BrokerState.STARTING, 0))
    second.announce()
    first.run_until(lambda: seen(BrokerState.ALIVE, 0))
    before = membership.brokers()[1].session_id
    assert 0 < membership.lease_left_s(2) <= LONG_SESSION_MS / 1000
    assert taken() == 1
    # Not the connection with which it leaves.
    backend = second.storage.commit._session._backend
    cluster.server.execute(f"select pg_terminate_backend({backend}, 10000)")
    second.append(7, 0)
    assert second.commit() is None
    first.run_until(lambda: seen(BrokerState.ALIVE, 0, before))
    assert taken() == 2
    second.close()
    first.run_until(lambda: seen(BrokerState.FENCED))
    assert (membership.brokers()[1].session_id, membership.lease_left_s(2)) == (0, 0)
    assert membership.lease_left_s(1) > 0


def test_a_broker_whose_start_is_refused_is_not_registered(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the store is opened, or by anything else before it is announced."""
    first, second = cluster.join(1), cluster.join(2)
    first.announce()
    second.close()
    first.run_until(lambda: first.brokers() == [(1, False)])

    def refuse(*_: object) -> None:
        raise StorageUnusable("it is damaged")

    monkeypatch.setattr(Contents, "load", refuse)
    with pytest.raises(StorageUnusable):
        cluster.join(3)
    first.close()
    assert cluster.execute("select node_id, is_fenced from ottla_brokers") == [(1, True)]


def test_a_broker_keeps_its_registration_if_a_later_start_is_refused(
    cluster: JoinedBrokers,
) -> None:
    first, second = cluster.join(1), cluster.join(2)
    second.announce()
    first.run_until(lambda: (2, False) in first.brokers())
    second.close()
    cluster.join(2).close()
    first.run_until(lambda: (2, True) in first.brokers())
    assert first.storage.membership is not None
    [other] = [one for one in first.storage.membership.brokers() if one.node.node_id == 2]
    assert other.node.addresses == {"PLAINTEXT": ("h", 9092)}


def test_a_broker_that_is_silent_is_fenced(cluster: JoinedBrokers) -> None:
    """Its next commit is refused, and it learns that others have taken its place."""
    first, second = cluster.join(1), cluster.join(2, through_relay=True)
    for broker in (first, second):
        broker.announce()
    first.run_until(lambda: (2, False) in first.brokers())
    second.lead(7, 2)
    assert second.commit() is None
    cluster.relay.refuse()
    cluster.relay.cut()
    first.run_until(lambda: (2, True) in first.brokers())
    cluster.relay.accept()
    second.append(7, 0)
    assert "another broker" in str(second.commit())
    second.run_until(lambda: second.fenced)


def test_a_silent_start_blocks_no_changes_of_others(cluster: JoinedBrokers) -> None:
    """It has the right to them, and is stopped before it is announced."""
    first, second = cluster.join(1), cluster.join(2, through_relay=True)
    first.announce()
    cluster.relay.hold()
    first.put(b"k", b"v")
    assert first.commit() is None
    cluster.relay.pass_all()
    second.run_until(lambda: second.fenced)
    assert first.fenced == 0


class Renewals:
    """Of leases, by any thread."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._node_ids: SimpleQueue[int] = SimpleQueue()
        self._renew = leases.renew
        monkeypatch.setattr(leases, "renew", self._renewed)

    def _renewed(self, connection: Rows, node_id: int, *values: Any) -> Beat:
        beat = self._renew(connection, node_id, *values)
        if beat.is_renewed:
            self.count += 1
            self._node_ids.put(node_id)
        return beat

    def wait(self, node_id: int, count: int) -> None:
        for _ in range(count):
            while self._node_ids.get(timeout=TIMEOUT_S) != node_id:
                pass


def test_a_broker_renews_its_lease_while_it_starts(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it loads the rows."""
    renewals = Renewals(monkeypatch)
    first = cluster.join(1)
    first.announce()
    first.put(b"k", b"v")
    assert first.commit() is None

    load = Contents.load

    def load_slowly(*of: Any) -> None:
        renewals.wait(2, count=2 * SESSION_MS // HEARTBEAT_MS)
        load(*of)

    monkeypatch.setattr(Contents, "load", load_slowly)
    second = cluster.join(2)
    second.put(b"k", b"w")
    assert second.commit() is None
    assert second.fenced == 0


def test_a_start_that_waits_for_the_right_only_renews_its_lease(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each heartbeat, however often it tries to get the right; it follows nothing yet."""
    first = cluster.join(1)
    first.put(b"k", b"v")
    assert first.commit() is None
    first.close()
    renewals = Renewals(monkeypatch)
    followed: list[int] = []
    tried_at: list[float] = []
    changed_since, taken, load = shared_rows.changed_since, ChangesLock.taken, Contents.load

    def follow(connection: Rows, version: int) -> SharedRows:
        followed.append(version)
        return changed_since(connection, version)

    def take(lock: ChangesLock, connection: Rows) -> bool:
        tried_at.append(monotonic())
        if renewals.count >= 4:
            holding.execute("select pg_advisory_unlock_all()")
        return taken(lock, connection)

    def check(*of: Any) -> None:
        assert followed == []
        load(*of)

    monkeypatch.setattr(shared_rows, "changed_since", follow)
    monkeypatch.setattr(ChangesLock, "taken", take)
    monkeypatch.setattr(Contents, "load", check)
    with cluster.connected() as holding:
        assert taken(ChangesLock(), holding)
        cluster.join(2)
    assert tried_at[-1] - tried_at[0] >= 3 * HEARTBEAT_MS / 1000


def test_a_broker_that_was_cut_off_itself_fences_nobody_at_once(cluster: JoinedBrokers) -> None:
    """When the server is back, others may just not have renewed their leases yet."""
    first, second = cluster.join(1), cluster.join(2, through_relay=True)
    for broker in (first, second):
        broker.announce()
    first.run_until(lambda: first.brokers() == [(1, False), (2, False)])
    cluster.relay.hold()
    with cluster.silent(1):
        cluster.run_until_over(2)
    first.run_until(lambda: cluster.has_lease(1))
    cluster.relay.pass_all()
    cluster.run_for(2 * SESSION_MS / 1000)
    assert first.brokers() == second.brokers() == [(1, False), (2, False)]
    assert second.fenced == 0


def test_a_node_id_has_one_process(cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infrastructure.storage.postgresql.session.LOCK_S", 0)
    cluster.join(1)
    with pytest.raises(StorageInUse, match="in use by process"):
        cluster.join(1)


def test_a_node_id_is_free_when_its_process_has_stopped(cluster: JoinedBrokers) -> None:
    """The server may not have noticed that its connections are lost."""
    first = cluster.join(1, through_relay=True)
    cluster.relay.cut(is_noticed=False)
    first.close()
    cluster.join(1).put(b"k", b"v")


@pytest.mark.parametrize("is_announced", [True, False])
def test_a_process_cannot_have_the_store_alone_beside_a_broker(
    cluster: JoinedBrokers, is_announced: bool
) -> None:
    broker = cluster.join(1)
    if is_announced:
        broker.announce()
    broker.run_until(lambda: (1, not is_announced) in broker.brokers())
    place = f"postgres@/postgres?host={cluster.server.folder}&schema={cluster.schema}"
    with pytest.raises(StorageInUse, match="in use by broker 1"):
        opened(place, "commit", None)
    broker.close()
    alone = opened(place, "commit", None)
    alone.commit.close()


def test_a_fault_behind_a_commit_ends_the_session(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread for commits goes on, and says so."""

    def fail(*_: object) -> None:
        raise ValueError("unknown")

    broker = cluster.join(1)
    monkeypatch.setattr(Contents, "planned", fail)
    for _ in range(2):
        broker.append(0, 0)
        assert (
            str(broker.commit()) == "A commit ended with ValueError('unknown'); restart the broker"
        )
    broker.run_until(lambda: broker.fenced)


# ---- partitions


def test_a_partition_goes_from_one_broker_to_another(cluster: JoinedBrokers) -> None:
    """With its batches, and the rows of its scope, which only its leader has."""
    first, second = cluster.join(1), cluster.join(2)
    first.lead(7, 1)
    assert first.commit() is None
    first.append(7, 0)
    first.storage.state.put("partitions", key_of(7), b"snapshot")
    first.storage.state.put("producers", key_of(7) + bytes(8), b"producer")
    assert first.commit() is None
    second.run_until(lambda: (LEADERS, key_of(7)) in second.followed)
    assert second.storage.state.scan("partitions") == []
    assert second.last_offsets(7) == []
    first.lead(7, 2, epoch=2)
    first.storage.state.put("partitions", key_of(7), b"newer")
    assert first.commit() is None
    assert first.storage.state.scan("partitions") == []
    assert first.last_offsets(7) == []
    second.run_until(lambda: second.storage.state.scan("partitions"))
    assert second.storage.state.get("partitions", key_of(7)) == b"newer"
    assert second.storage.state.get("producers", key_of(7) + bytes(8)) == b"producer"
    assert second.last_offsets(7) == [0]
    second.append(7, 1)
    assert second.commit() is None
    second.lead(7, 1, epoch=3)
    assert second.commit() is None
    first.run_until(lambda: first.storage.state.scan("partitions"))
    assert first.last_offsets(7) == [0, 1]


def test_a_broker_takes_what_a_fenced_one_led(cluster: JoinedBrokers) -> None:
    first, second = cluster.join(1), cluster.join(2)
    second.lead(7, 2)
    second.append(7, 0)
    assert second.commit() is None
    second.close()
    first.lead(7, 1, epoch=2)
    assert first.commit() is None
    assert first.last_offsets(7) == [0]


def test_a_broker_has_again_what_it_led_before(cluster: JoinedBrokers) -> None:
    broker = cluster.join(1)
    broker.lead(7, 1)
    broker.append(7, 0)
    assert broker.commit() is None
    broker.close()
    again = cluster.join(1)
    assert again.last_offsets(7) == [0]


def test_a_closed_broker_wakes_no_descriptor_of_others(cluster: JoinedBrokers) -> None:
    """Its loop goes on for a moment, and clients may have new connections."""
    broker = cluster.join(1)
    membership = broker.storage.membership
    assert membership is not None
    broker.close()
    others = [one for _ in range(20) for one in socket.socketpair()]
    try:
        membership.announce(Node(1))
        for one in others:
            one.setblocking(False)
            with pytest.raises(BlockingIOError):
                one.recv(1)
    finally:
        for one in others:
            one.close()


def test_what_a_broker_has_not_read_is_not_told_as_gained(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its session ends between the commit by which it leads a partition, and what it reads then."""
    broker = cluster.join(1)

    def end(*_: object, by_others: bool = False) -> None:
        cluster.execute("update ottla_fences set session = 0 where node_id = 1")
        raise psycopg.OperationalError("of a test")

    monkeypatch.setattr(broker.storage.log._contents, "gained", end)
    broker.lead(P, 1)
    assert isinstance(broker.commit(), StorageFailed)
    broker.run_until(lambda: broker.fenced == 1)
