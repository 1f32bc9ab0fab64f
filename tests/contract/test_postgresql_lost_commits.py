"""A database that has lost the last commits, as a standby that lagged when it was promoted."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count

import psycopg
import pytest

from domain.errors import StorageFailed
from infrastructure.storage.postgresql import lost_commits
from infrastructure.storage.postgresql.commit import PostgresCommit
from infrastructure.storage.postgresql.watch import Watch
from infrastructure.storage.postgresql.writer import Upkeep
from infrastructure.storage.repositories.leader_rows import LEADERS, key_of
from tests.contract.batches import batch
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers
from tests.contract.past import Past
from tests.contract.relayed_postgres import RelayedPostgres
from tests.contract.tiny_tails import TINY

pytestmark = pytest.mark.usefixtures("at_once")


def batches(*offsets: int) -> bytes:
    return b"".join(batch(offset) for offset in offsets)


def test_lost_commits_are_repeated_before_the_next_one(relayed: RelayedPostgres) -> None:
    store = relayed.open()
    store.keep(0, 1)
    past = Past(relayed)
    store.keep(2, 3)
    past.return_to()
    assert relayed.last_offsets() == [0, 1]
    store.keep(4)
    assert relayed.last_offsets() == [0, 1, 2, 3, 4]
    assert store.read() == batches(0, 1, 2, 3, 4)
    assert store.storage.repeated_commits is not None and store.storage.repeated_commits() == 2
    store.close()
    assert relayed.open().read() == batches(0, 1, 2, 3, 4)


def test_all_kinds_of_changes_are_repeated(relayed: RelayedPostgres) -> None:
    """New tails, trims, compaction, deleted rows, another log."""
    store = relayed.open(tail_bytes=150)
    log = store.storage.log
    store.keep(0, 1, 2, 3)
    store.keep_up()
    past = Past(relayed)
    compacted = batch(2, b"compacted", first_offset=1)
    store.patiently(lambda: log.replace(1, 1, 2, [compacted], []))
    assert store.commit() is None
    store.keep(4, 5)
    store.patiently(lambda: log.trim(1, 1, 10))
    store.storage.state.put("t", b"0", None)
    log.append(9, 7, batch(7), 1000)
    assert store.commit() is None
    past.return_to()
    store.append(6)
    assert store.commit() is None
    expected = compacted + batches(3, 4, 5, 6)
    log._contents.cache.clear()
    assert store.read(1) == expected
    assert store.storage.state.get("t", b"0") is None
    store.close()
    again = relayed.open(tail_bytes=150)
    assert again.read(1) == expected
    assert again.storage.state.get("t", b"0") is None
    assert again.storage.state.get("t", b"6") == b""
    log = again.storage.log
    log._contents.cache.clear()
    assert again.patiently(lambda: log.read(9, 0, 1 << 62, 1 << 62, True)) == batch(7)
    assert again.patiently(lambda: log.at_timestamp(9, 1001)) == 8


def test_a_move_without_anything_to_move_is_no_commit(relayed: RelayedPostgres) -> None:
    store = relayed.open()
    store.keep(0)
    past = Past(relayed)
    store.keep(1)
    store.storage.commit._writer.do(Upkeep.MOVE)
    past.return_to()
    store.keep(2)
    assert relayed.last_offsets() == [0, 1, 2]


@pytest.mark.parametrize("responses", range(8))
def test_a_connection_is_lost_while_they_are_repeated(
    relayed: RelayedPostgres, responses: int
) -> None:
    store = relayed.open()
    store.keep(0)
    past = Past(relayed)
    store.keep(1, 2)
    past.return_to()
    relayed.relay.cut_at_response(responses + 1)
    store.keep(3)
    relayed.relay.pass_all()
    assert relayed.last_offsets() == [0, 1, 2, 3]
    assert store.read() == batches(0, 1, 2, 3)


@pytest.mark.parametrize(
    "seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 20))]
)
def test_again_and_again(relayed: RelayedPostgres, seed: int) -> None:
    chance = random.Random(seed)
    store = relayed.open(tail_bytes=chance.choice((TINY, 300, 5000)))
    offset, begun = 0, 0
    for _ in range(4):
        for _ in range(chance.randrange(3)):
            store.keep(offset)
            offset += 1
            store.keep_up()
        past = Past(relayed)
        for number in range(chance.randrange(1, 5)):
            store.append(offset)
            offset += 1
            # A trim reads, and the first commit repeats what was lost before.
            if number and chance.random() < 0.3 and begun < offset - 2:
                begun += 1
                store.trim(begun)
            assert store.commit() is None
            if chance.random() < 0.5:
                store.keep_up()
        store.keep_up()  # what is dropped meanwhile would not be there to be filled
        past.return_to()
    store.keep(offset)
    assert relayed.last_offsets() == list(range(begun, offset + 1))
    assert store.read(begun) == batches(*range(begun, offset + 1))


def test_more_than_is_remembered_is_not_repeated(
    relayed: RelayedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_commits, "_MOST_COMMITS", 1)
    store = relayed.open()
    store.keep(0)
    past = Past(relayed)
    store.keep(1, 2)
    past.return_to()
    store.append(3)
    failure = store.commit()
    assert isinstance(failure, StorageFailed) and "lost or gained commits" in failure.message
    assert relayed.last_offsets() == [0]


# ---- of several brokers


@pytest.fixture
def cluster(patient: JoinedBrokers) -> JoinedBrokers:
    return patient


def leading(cluster: JoinedBrokers) -> JoinedBroker:
    broker = cluster.join(1, through_relay=True)
    broker.lead(7, 1)
    assert broker.commit() is None
    broker.append(7, 0)
    assert broker.commit() is None
    return broker


def test_an_idle_broker_repeats_what_is_lost(cluster: JoinedBrokers) -> None:
    """When it has connected again."""
    broker = leading(cluster)
    past = Past(cluster)
    broker.append(7, 1)
    assert broker.commit() is None
    past.return_to()
    assert broker.storage.repeated_commits is not None
    repeated = broker.storage.repeated_commits
    broker.run_until(lambda: repeated() == 1)
    assert broker.fenced == 0
    assert broker.last_offsets(7) == [0, 1]


def test_a_check_that_fails_is_made_again(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may have no place for another connection when all brokers connect again."""
    broker = leading(cluster)
    past = Past(cluster)
    broker.append(7, 1)
    assert broker.commit() is None
    commit = broker.storage.commit
    assert isinstance(commit, PostgresCommit)
    resume, attempts = commit._session._resume, count()

    def resumed() -> int | None:
        if not next(attempts):
            raise psycopg.OperationalError("too many clients already")
        return resume()

    monkeypatch.setattr(commit._session, "_resume", resumed)
    past.return_to()
    repeated = broker.storage.repeated_commits
    assert repeated is not None

    def is_repeated() -> bool:
        commit.keep_up()
        return repeated() == 1

    broker.run_until(is_repeated)
    assert broker.last_offsets(7) == [0, 1]


def test_changes_that_others_have_lost_end_the_session(cluster: JoinedBrokers) -> None:
    broker, other = leading(cluster), cluster.join(2)
    past = Past(cluster)
    other.put(b"key", b"value")
    assert other.commit() is None
    broker.run_until(lambda: ("t", b"key") in broker.followed)
    broker.append(7, 1)
    assert broker.commit() is None
    other.close()
    past.return_to()
    broker.run_until(lambda: broker.fenced)
    assert broker.storage.repeated_commits is not None
    assert broker.storage.repeated_commits() == 0


def test_a_hand_over_that_was_lost_is_not_repeated(cluster: JoinedBrokers) -> None:
    """The next leader may have written since."""
    broker, other = leading(cluster), cluster.join(2)
    past = Past(cluster)
    broker.append(7, 1)
    broker.lead(7, 2, epoch=2)
    assert broker.commit() is None
    other.run_until(lambda: other.last_offsets(7) == [0, 1])
    past.return_to()
    broker.run_until(lambda: broker.fenced)
    assert broker.storage.repeated_commits is not None
    assert broker.storage.repeated_commits() == 0
    assert cluster.execute("select first_offset from ottla_runs") == [(0,)]


def learned(cluster: JoinedBrokers, broker: JoinedBroker, other: JoinedBroker) -> Past:
    """Before the broker learns a row of another one."""
    past = Past(cluster)
    other.put(b"key", b"lost")
    assert other.commit() is None
    broker.run_until(lambda: ("t", b"key") in broker.followed)
    return past


def lose(cluster: JoinedBrokers, past: Past, other: JoinedBroker) -> None:
    """The database has another row in place of it; no broker is connected through the relay."""
    other.close()
    past.return_to(accepts=False)
    third = cluster.join(3)
    third.put(b"other key", b"new")
    assert third.commit() is None


def test_other_rows_of_the_same_version_end_the_session(cluster: JoinedBrokers) -> None:
    broker, other = leading(cluster), cluster.join(2)
    past = learned(cluster, broker, other)
    broker.append(7, 1)
    assert broker.commit() is None
    lose(cluster, past, other)
    cluster.relay.accept()
    broker.run_until(lambda: broker.fenced)
    assert broker.storage.repeated_commits is not None
    assert broker.storage.repeated_commits() == 0


COMMITS = "select node_id, seq from ottla_fences order by node_id"


def put_shared(broker: JoinedBroker) -> None:
    """With the right that it had."""
    broker.storage.state.put("t", b"mine", b"value")


def append(broker: JoinedBroker) -> None:
    broker.append(7, 1)


@pytest.mark.parametrize("change", [put_shared, append])
def test_nothing_is_committed_to_a_database_that_lacks_what_others_changed(
    cluster: JoinedBrokers,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[JoinedBroker], None],
) -> None:
    """It has as many changes; the connection for the lease is not back yet."""
    broker, other = leading(cluster), cluster.join(2)
    lose(cluster, learned(cluster, broker, other), other)

    def fail(watch: Watch) -> None:
        raise psycopg.OperationalError("not yet")

    monkeypatch.setattr(Watch, "_connect", fail)
    before = cluster.execute(COMMITS)
    cluster.relay.accept()
    change(broker)
    failure = broker.commit()
    assert isinstance(failure, StorageFailed) and "lost changes" in failure.message
    assert cluster.execute(COMMITS) == before
    assert broker.fenced


def go_back(cluster: JoinedBrokers, broker: JoinedBroker) -> JoinedBroker:
    """Another broker; the connection of the first one stays lost, and its last commit is."""
    past = Past(cluster)
    broker.append(7, 1)
    assert broker.commit() is None
    past.return_to(accepts=False)
    return cluster.join(3)


def test_what_others_have_changed_since_is_no_reason_against_it(cluster: JoinedBrokers) -> None:
    broker = leading(cluster)
    third = go_back(cluster, broker)
    third.put(b"new key", b"new")
    third.lead(8, 3)
    assert third.commit() is None
    cluster.relay.accept()
    assert broker.storage.repeated_commits is not None
    repeated = broker.storage.repeated_commits
    broker.run_until(lambda: ("t", b"new key") in broker.followed and repeated() == 1)
    assert broker.fenced == 0
    assert broker.last_offsets(7) == [0, 1]


def test_a_partition_that_has_another_leader_since_is(cluster: JoinedBrokers) -> None:
    broker = leading(cluster)
    third = go_back(cluster, broker)
    third.lead(7, 3, epoch=2)
    assert third.commit() is None
    cluster.relay.accept()
    keep_up = broker.storage.keep_up
    assert keep_up is not None
    # As a broker does now and then: the first check may find no connection.
    broker.run_until(lambda: keep_up() or broker.fenced)
    assert broker.storage.repeated_commits is not None
    assert broker.storage.repeated_commits() == 0


def test_a_hand_over_that_was_lost_has_no_two_owners(cluster: JoinedBrokers) -> None:
    """The next owner has committed nothing since, and the database has a change more again."""
    broker, other = leading(cluster), cluster.join(2)
    other.lead(8, 2)
    assert other.commit() is None
    broker.run_until(lambda: (LEADERS, key_of(8)) in broker.followed)
    past = Past(cluster)
    broker.followed.clear()
    other.lead(8, 1, epoch=2)
    assert other.commit() is None
    broker.run_until(lambda: (LEADERS, key_of(8)) in broker.followed)
    other.close()
    past.return_to(accepts=False)
    third = cluster.join(3)
    third.lead(8, 2, epoch=2)
    assert third.commit() is None
    cluster.relay.accept()
    broker.run_until(lambda: broker.fenced)


def test_a_broker_goes_on_if_its_new_connection_has_newer_rows(cluster: JoinedBrokers) -> None:
    """Others have changed some, and deleted a topic that it leads."""
    broker, other = leading(cluster), cluster.join(2)
    other.put(b"key", b"value")
    assert other.commit() is None
    broker.run_until(lambda: ("t", b"key") in broker.followed)
    broker.followed.clear()
    cluster.relay.refuse()
    cluster.relay.cut()
    other.put(b"key", b"newer")
    other.put(b"other key", b"new")
    other.put(key_of(7), None, LEADERS)
    assert other.commit() is None
    cluster.relay.accept()
    broker.run_until(lambda: broker.followed)
    assert sorted(broker.followed) == [
        (LEADERS, key_of(7)),
        ("t", b"key"),
        ("t", b"other key"),
    ]
    broker.put(b"key", b"newest")
    assert broker.commit() is None
    assert broker.fenced == 0
