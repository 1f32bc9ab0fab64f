"""A broker starts again: until it leads, others may take over what it led, as its entries are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infrastructure.storage.postgresql import tails
from infrastructure.storage.postgresql.commit import PostgresCommit
from infrastructure.storage.postgresql.log_store import PostgresLogStore
from infrastructure.storage.repositories.leader_rows import LEADERS
from tests.contract.batches import batch
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers
from tests.contract.postgres_server import running_postgres

pytestmark = pytest.mark.usefixtures("at_once")

P, OTHER = 7, 8
RUNS = f"select first_offset, tail from ottla_runs where partition_id = {P}"


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[JoinedBrokers]:
    monkeypatch.setattr(tails, "_DEAD_TAILS", 1 << 30)
    cluster = JoinedBrokers(running_postgres(), tail_bytes=1000)
    yield cluster
    cluster.close()


@pytest.fixture
def again(cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch) -> JoinedBroker:
    """It led two partitions, in a full tail that is mostly dead, and has just started again."""
    broker = cluster.join(1)
    for partition_id, size_bytes in ((P, 0), (OTHER, 1000)):
        broker.lead(partition_id, 1)
        broker.storage.log.append(partition_id, 0, batch(0, b"x", size_bytes=size_bytes))
    assert broker.commit() is None
    settle(broker)
    broker.patiently(lambda: broker.storage.log.trim(OTHER, 1, 10))
    assert broker.commit() is None
    broker.close()
    monkeypatch.setattr(tails, "_DEAD_TAILS", 0)
    return cluster.join(1)


def settle(broker: JoinedBroker) -> None:
    """Until nothing is moved any more."""
    commit = broker.storage.commit
    assert isinstance(commit, PostgresCommit)
    broker.run_until(lambda: not commit.is_keeping_up)


def commit(broker: JoinedBroker, key: bytes) -> None:
    """Something else."""
    broker.put(key, b"v")
    assert broker.commit() is None
    settle(broker)


def test_nothing_is_moved_before_a_broker_leads_all(
    cluster: JoinedBrokers, again: JoinedBroker
) -> None:
    before = cluster.execute(RUNS)
    commit(again, b"k")
    assert cluster.execute(RUNS) == before
    again.lead(P, 1, epoch=2)
    assert again.commit() is None
    settle(again)
    assert cluster.execute(RUNS) == before
    again.lead(OTHER, 1, epoch=2)
    assert again.commit() is None
    settle(again)
    assert cluster.execute(RUNS) != before
    assert again.last_offsets(P) == [0]


def test_what_others_took_over_meanwhile_is_not_waited_for(
    cluster: JoinedBrokers, again: JoinedBroker
) -> None:
    """Nor moved: they have done it, and have dropped its tail."""
    other = cluster.join(2)
    other.lead(OTHER, 2, epoch=2)
    other.lead(P, 2, epoch=2)
    assert other.commit() is None
    settle(other)
    before = cluster.execute(RUNS)
    commit(again, b"k")
    assert isinstance(again.storage.log, PostgresLogStore)
    assert again.storage.log._contents.has_begun
    assert cluster.execute(RUNS) == before
    assert other.last_offsets(P) == [0]


def test_what_others_had_meanwhile_is_read_again(patient: JoinedBrokers) -> None:
    """It went away and came back between two reads of the broker that starts."""
    key, offsets = P.to_bytes(4, "big"), [0, 1]
    first, other = patient.join(1), patient.join(2)
    for partition_id in (P, OTHER):
        first.lead(partition_id, 1)
        first.append(partition_id, 0)
    first.storage.state.put("partitions", key, b"old")
    assert first.commit() is None
    first.close()
    again = patient.join(1, through_relay=True)
    other.lead(P, 2, epoch=2)
    patient.relay.hold()
    assert other.commit() is None
    other.append(P, 1)
    other.storage.state.put("partitions", key, b"new")
    other.lead(P, 1, epoch=3)
    assert other.commit() is None
    patient.relay.pass_all()
    again.run_until(lambda: (LEADERS, key) in again.followed)
    assert again.storage.state.get("partitions", key) == b"new"
    assert again.last_offsets(P) == offsets
    # As before, it does not lead them yet.
    assert isinstance(again.storage.log, PostgresLogStore)
    assert not again.storage.log._contents.has_begun
    for partition_id, epoch in ((P, 4), (OTHER, 2)):
        again.lead(partition_id, 1, epoch)
    again.append(P, 2)
    assert again.commit() is None
    assert again.storage.log._contents.has_begun
    assert again.last_offsets(P) == [*offsets, 2]


def test_a_broker_that_led_nothing_has_begun(cluster: JoinedBrokers) -> None:
    broker = cluster.join(1)
    assert isinstance(broker.storage.log, PostgresLogStore)
    assert broker.storage.log._contents.has_begun
