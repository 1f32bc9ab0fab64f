"""A partition returns to a broker whose current tail has entries of it that another broker has
replaced, or removed, in a tail of its own: these stay dead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from infrastructure.storage.postgresql import tails
from infrastructure.storage.postgresql.commit import PostgresCommit
from infrastructure.storage.postgresql.log_store import PostgresLogStore
from tests.contract.batches import batch
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers
from tests.contract.postgres_server import running_postgres

pytestmark = pytest.mark.usefixtures("at_once")

P, OTHER = 7, 8


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[JoinedBrokers]:
    monkeypatch.setattr(tails, "_DEAD_TAILS", 1 << 30)
    cluster = JoinedBrokers(running_postgres())
    yield cluster
    cluster.close()


@pytest.fixture
def first(cluster: JoinedBrokers) -> JoinedBroker:
    """It leads the partition, and has written a batch in each of four commits."""
    broker = cluster.join(1)
    broker.lead(P, 1)
    assert broker.commit() is None
    for offset in range(4):
        broker.append(P, offset)
        assert broker.commit() is None
    return broker


@pytest.fixture
def second(cluster: JoinedBrokers, first: JoinedBroker) -> JoinedBroker:
    """It has the partition from the first one."""
    broker = cluster.join(2)
    hand_over(first, broker, epoch=2)
    return broker


def hand_over(leader: JoinedBroker, to: JoinedBroker, epoch: int) -> None:
    leader.lead(P, to.node_id, epoch)
    assert leader.commit() is None
    to.run_until(lambda: to.storage.log.partition_ids())


def settle(broker: JoinedBroker) -> None:
    """Until nothing is moved any more."""
    commit = broker.storage.commit
    assert isinstance(commit, PostgresCommit)
    broker.run_until(lambda: not commit.is_keeping_up)


def replace(broker: JoinedBroker, first: int, last: int, batches: Sequence[bytes]) -> None:
    assert broker.patiently(lambda: broker.storage.log.replace(P, first, last, batches, [])) != 0
    assert broker.commit() is None


def read(broker: JoinedBroker) -> bytes:
    assert isinstance(broker.storage.log, PostgresLogStore)
    broker.storage.log._contents.cache.clear()
    return broker.patiently(lambda: broker.storage.log.read(P, 0, 1 << 62, 1 << 62, True))


def check(cluster: JoinedBrokers, leader: JoinedBroker, batches: Sequence[bytes]) -> None:
    """What its runs cover."""
    assert read(leader) == b"".join(batches)
    [(tail,)] = cluster.execute(f"select tail from ottla_fences where node_id = {leader.node_id}")
    runs = cluster.execute(f"select first_offset, tail from ottla_runs where partition_id = {P}")
    assert runs == [(0, tail)]
    found = cluster.execute(
        f"select last_offset from ottla_tail_{tail} where partition_id = {P} order by last_offset"
    )
    assert [offset for (offset,) in found] == leader.last_offsets(P)


def test_what_another_broker_compacted_stays_away(
    cluster: JoinedBrokers, first: JoinedBroker, second: JoinedBroker
) -> None:
    replace(second, 0, 0, [batch(0, b"compacted")])
    replace(second, 1, 2, [batch(2, b"compacted", 1)])
    hand_over(second, first, epoch=3)
    replace(first, 0, 2, [batch(2, b"again", 0)])
    check(cluster, first, [batch(2, b"again", 0), batch(3, b"x")])


def test_it_stays_away_when_entries_are_moved(
    cluster: JoinedBrokers,
    first: JoinedBroker,
    second: JoinedBroker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From a full tail of the other broker, which is dead for the most part."""
    assert isinstance(second.storage.log, PostgresLogStore)
    second.lead(OTHER, 2)
    second.storage.log.append(OTHER, 0, batch(0, b"x" * 1000))
    assert second.commit() is None
    replace(second, 0, 2, [batch(2, b"compacted", 0)])
    second.patiently(lambda: second.storage.log.trim(OTHER, 1, 10))
    second.storage.log._contents.tails._most_bytes = 1
    assert second.commit() is None
    settle(second)
    monkeypatch.setattr(tails, "_DEAD_TAILS", 0)
    hand_over(second, first, epoch=3)
    first.append(P, 4)
    assert first.commit() is None
    settle(first)
    check(cluster, first, [batch(2, b"compacted", 0), batch(3, b"x"), batch(4, b"x")])


def test_the_newest_entries_stay_away_when_others_are_appended(
    cluster: JoinedBrokers, first: JoinedBroker, second: JoinedBroker
) -> None:
    """The new run begins behind the last entry that is left, below what was removed."""
    replace(second, 0, 1, [batch(1, b"compacted", 0)])
    replace(second, 2, 3, [])
    hand_over(second, first, epoch=3)
    for offset in (4, 5):
        first.append(P, offset)
        assert first.commit() is None
    assert read(first) == batch(1, b"compacted", 0) + batch(4, b"x") + batch(5, b"x")


def test_the_newest_entries_stay_away_when_those_before_are_compacted(
    cluster: JoinedBrokers, first: JoinedBroker, second: JoinedBroker
) -> None:
    """The last run has no end."""
    replace(second, 2, 3, [])
    hand_over(second, first, epoch=3)
    replace(first, 0, 1, [batch(1, b"compacted", 0)])
    assert read(first) == batch(1, b"compacted", 0)
    first.append(P, 4)
    assert first.commit() is None
    assert read(first) == batch(1, b"compacted", 0) + batch(4, b"x")


def test_a_log_that_begins_again_has_its_new_entries_only(
    cluster: JoinedBrokers, first: JoinedBroker, second: JoinedBroker
) -> None:
    """As after a restore, offsets may be used once more."""
    assert second.patiently(lambda: second.storage.log.drop(P, 100))
    assert second.commit() is None
    second.append(P, 0)
    hand_over(second, first, epoch=3)
    first.append(P, 2)
    assert first.commit() is None
    assert read(first) == batch(0, b"x") + batch(2, b"x")


def test_an_older_entry_may_have_the_offset_of_a_new_one(
    cluster: JoinedBrokers, first: JoinedBroker, second: JoinedBroker
) -> None:
    replace(second, 2, 3, [])
    hand_over(second, first, epoch=3)
    first.storage.log.append(P, 3, batch(3, b"new"))
    assert first.commit() is None
    assert read(first) == batch(0, b"x") + batch(1, b"x") + batch(3, b"new")
