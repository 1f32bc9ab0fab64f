"""Tails in which several brokers have entries: each frees a part of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infrastructure.storage.postgresql.commit import PostgresCommit
from infrastructure.storage.postgresql.log_store import PostgresLogStore
from tests.contract.batches import batch
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers
from tests.contract.postgres_server import running_postgres

pytestmark = pytest.mark.usefixtures("at_once")

ROUNDS = 4
#: Of broker 1 and broker 2: a log that is trimmed, and one that stays.
FIRST, SLOW_FIRST = 11, 12
SECOND, SLOW_SECOND = 21, 22
LOGS = (FIRST, SLOW_FIRST, SECOND, SLOW_SECOND)


@pytest.fixture
def cluster() -> Iterator[JoinedBrokers]:
    """A tail is full after the entries of all four logs."""
    cluster = JoinedBrokers(running_postgres(), tail_bytes=2000)
    yield cluster
    cluster.close()


def settle(broker: JoinedBroker) -> None:
    """Until entries are moved, and tails dropped."""
    commit = broker.storage.commit
    assert isinstance(commit, PostgresCommit)
    commit.keep_up()
    broker.run_until(lambda: not commit.is_keeping_up)


def count(broker: JoinedBroker) -> None:
    """As a broker does once a minute."""
    commit = broker.storage.commit
    assert isinstance(commit, PostgresCommit) and commit._dropping is not None
    commit._dropping._next_search_s = 0.0
    settle(broker)


def entries(broker: JoinedBroker, offset: int) -> None:
    for partition_id in LOGS:
        content = b"x" * (1000 if partition_id in (FIRST, SECOND) else 10)
        broker.storage.log.append(partition_id, offset, batch(offset, content))
    assert broker.commit() is None


def trim(broker: JoinedBroker, partition_id: int) -> None:
    log = broker.storage.log
    while not broker.patiently(lambda: log.trim(partition_id, ROUNDS, 100)).done:
        pass
    assert broker.commit() is None
    settle(broker)


def read(broker: JoinedBroker, partition_id: int) -> bytes:
    log = broker.storage.log
    assert isinstance(log, PostgresLogStore)
    log._contents.cache.clear()
    return broker.patiently(lambda: log.read(partition_id, 0, 1 << 62, 1 << 62, True))


def tails(cluster: JoinedBrokers, query: str = "select n from ottla_tails") -> set[int]:
    return {int(str(number)) for (number,) in cluster.execute(query)}


def test_tails_of_which_each_broker_frees_less_than_half_are_moved(
    cluster: JoinedBrokers,
) -> None:
    """The last of them is the current one of broker 1 when broker 2 gains its logs."""
    first, second = cluster.join(1), cluster.join(2)
    for partition_id in LOGS:
        first.lead(partition_id, 1)
    assert first.commit() is None
    for offset in range(ROUNDS):
        settle(first)
        entries(first, offset)
    shared = tails(cluster, "select distinct tail from ottla_runs")
    assert len(shared) == ROUNDS
    for partition_id in (SECOND, SLOW_SECOND):
        first.lead(partition_id, 2, epoch=2)
    assert first.commit() is None
    log = second.storage.log
    second.run_until(lambda: set(log.partition_ids()) == {SECOND, SLOW_SECOND})
    settle(first)
    trim(first, FIRST)
    trim(second, SECOND)
    assert shared <= tails(cluster)
    for broker in (first, second, first):
        count(broker)
        settle(broker)
    assert not shared & tails(cluster)
    slow = b"".join(batch(offset, b"x" * 10) for offset in range(ROUNDS))
    assert read(first, SLOW_FIRST) == slow
    assert read(second, SLOW_SECOND) == slow
