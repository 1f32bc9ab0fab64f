"""Several brokers over one store with objects: sealed by one, read and deleted by others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event

import pytest

from application.ports.log_store import NotInMemory
from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.objects.bucket import Bucket
from infrastructure.storage.postgresql.commit import PostgresCommit
from infrastructure.storage.postgresql.log_store import PostgresLogStore
from tests.contract.batches import batch
from tests.contract.joined_brokers import TIMEOUT_S, JoinedBroker, JoinedBrokers
from tests.contract.postgres_server import running_postgres
from tests.contract.s3_objects import Objects

pytestmark = pytest.mark.usefixtures("at_once", "s3")

P = 7


@pytest.fixture
def cluster(objects: Objects) -> Iterator[JoinedBrokers]:
    more = f"{objects.url}&local.bytes=0&delete.delay.ms=0"
    cluster = JoinedBrokers(running_postgres(), tail_bytes=1, more=more)
    yield cluster
    cluster.close()


def settle(broker: JoinedBroker) -> None:
    """Until its tails are sealed and dropped."""
    commit = broker.storage.commit
    assert isinstance(commit, PostgresCommit)
    broker.run_until(lambda: not commit.is_keeping_up)


def leading(cluster: JoinedBrokers, node_id: int) -> JoinedBroker:
    broker = cluster.join(node_id)
    broker.lead(P, node_id)
    assert broker.commit() is None
    return broker


def append(broker: JoinedBroker, *last_offsets: int) -> None:
    for one in last_offsets:
        broker.append(P, one)
        assert broker.commit() is None
        settle(broker)


def read(broker: JoinedBroker) -> bytes:
    assert isinstance(broker.storage.log, PostgresLogStore)
    broker.storage.log._contents.cache.clear()
    return broker.patiently(lambda: broker.storage.log.read(P, 0, 1 << 62, 1 << 62, True))


def batches(count: int) -> bytes:
    return b"".join(batch(offset, b"x") for offset in range(count))


def objects_of(cluster: JoinedBrokers) -> list[str]:
    found = cluster.execute("select object from ottla_tails where object is not null")
    return sorted(str(name) for (name,) in found)


@pytest.mark.parametrize("is_killed", [False, True])
def test_the_next_leader_reads_and_deletes_objects(
    cluster: JoinedBrokers, objects: Objects, is_killed: bool
) -> None:
    first, second = leading(cluster, 1), cluster.join(2)
    append(first, 0, 1, 2)
    assert objects.names()
    if is_killed:
        first.close()
        second.lead(P, 2, epoch=2)
        assert second.commit() is None
    else:
        first.lead(P, 2, epoch=2)
        assert first.commit() is None
        second.run_until(lambda: second.last_offsets(P))
    assert second.last_offsets(P) == [0, 1, 2]
    assert read(second) == batches(3)
    append(second, 3, 4)
    assert read(second) == batches(5)
    while not second.patiently(lambda: second.storage.log.trim(P, 5, 100)).done:
        pass
    append(second, 5)
    append(second, 6)
    assert objects.names() == objects_of(cluster)
    assert len(objects.names()) <= 2


def test_a_leader_changes_while_an_object_is_written(
    cluster: JoinedBrokers, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit that hands the partition over is before the one that seals."""
    first, second = leading(cluster, 1), cluster.join(2)
    assert isinstance(first.storage.commit, PostgresCommit)
    seals = first.storage.commit._sealing
    assert seals is not None
    seal, handed_over = seals._seal, []

    def hand_over(new: object) -> bool:
        if not handed_over:
            first.lead(P, 2, epoch=2)
            handed_over.append(first.begin())
        return seal(new)  # type: ignore[arg-type]

    first.append(P, 0)
    assert first.commit() is None
    monkeypatch.setattr(seals, "_seal", hand_over)
    first.run_until(lambda: handed_over and handed_over[0])
    settle(first)
    assert handed_over == [[None]]
    second.run_until(lambda: second.last_offsets(P))
    append(second, 1, 2)
    assert read(second) == batches(3)
    second.close()
    third = cluster.join(3)
    third.lead(P, 3, epoch=3)
    assert third.commit() is None
    assert read(third) == batches(3)


def test_a_partition_goes_and_returns_while_an_object_is_written(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its entries are in the current tail of the other broker, which compacts them there."""
    second, first = leading(cluster, 2), cluster.join(1)
    assert isinstance(first.storage.commit, PostgresCommit)
    assert isinstance(second.storage.log, PostgresLogStore)
    assert isinstance(second.storage.commit, PostgresCommit)
    second.storage.log._contents.tails._most_bytes = 1 << 20
    monkeypatch.setattr(second.storage.commit, "_sealing", None)
    append(second, 0, 1, 2)
    seals = first.storage.commit._sealing
    assert seals is not None
    seal, returned = seals._seal, []

    def hand_over(leader: JoinedBroker, to: JoinedBroker, epoch: int) -> None:
        leader.lead(P, to.node_id, epoch)
        assert leader.commit() is None
        to.run_until(lambda: to.storage.log.partition_ids())

    def go_and_return(new: object) -> bool:
        if not returned:
            returned.append(new)
            hand_over(first, second, epoch=3)
            compacted = [batch(1, b"compacted", 0)]
            second.patiently(lambda: second.storage.log.replace(P, 0, 1, compacted, []))
            assert second.commit() is None
            hand_over(second, first, epoch=4)
        return seal(new)  # type: ignore[arg-type]

    monkeypatch.setattr(seals, "_seal", go_and_return)
    hand_over(second, first, epoch=2)
    append(first, 3)
    assert returned
    append(first, 4)
    expected = batch(1, b"compacted", 0) + b"".join(batch(one, b"x") for one in (2, 3, 4))
    assert read(first) == expected


def test_nothing_is_sealed_before_a_broker_leads_again(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then others may take over what it led."""
    first, second = leading(cluster, 1), cluster.join(2)
    assert isinstance(first.storage.commit, PostgresCommit)
    monkeypatch.setattr(first.storage.commit, "_sealing", None)
    append(first, 0, 1, 2)
    first.close()
    runs = "select * from ottla_runs order by first_offset"
    before = cluster.execute(runs)
    again = cluster.join(1)
    again.put(b"k", b"v")
    assert again.commit() is None
    settle(again)
    assert cluster.execute(runs) == before
    assert objects_of(cluster) == []
    again.lead(P, 1, epoch=2)
    assert again.commit() is None
    settle(again)
    assert objects_of(cluster)
    assert read(again) == batches(3)
    again.lead(P, 2, epoch=3)
    assert again.commit() is None
    second.run_until(lambda: second.last_offsets(P))
    assert read(second) == batches(3)


def test_a_broker_without_objects_reads_those_of_others(
    cluster: JoinedBrokers, objects: Objects
) -> None:
    """It was started before there were any."""
    with_objects, cluster.more = cluster.more, ""
    second = cluster.join(2)
    cluster.more = with_objects
    first = leading(cluster, 1)
    append(first, 0, 1)
    assert objects.names()
    first.lead(P, 2, epoch=2)
    assert first.commit() is None
    second.run_until(lambda: second.last_offsets(P))
    assert read(second) == batches(2)
    append(second, 2)
    assert read(second) == batches(3)


def test_an_object_that_the_next_leader_has_dropped_is_not_skipped(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a broker that does not know yet that it leads no more."""
    first, second = leading(cluster, 1), cluster.join(2)
    append(first, 0, 1, 2)
    assert isinstance(first.storage.commit, PostgresCommit)
    assert isinstance(second.storage.commit, PostgresCommit)
    assert isinstance(first.storage.log, PostgresLogStore)
    for broker in (first, second):
        monkeypatch.setattr(broker.storage.commit, "_sealing", None)
    append(first, 3)
    assert read(first) == batches(4)
    monkeypatch.setattr(first.storage.log._contents, "take_over", lambda *found: None)
    second.lead(P, 2, epoch=2)
    assert second.commit() is None
    settle(second)
    # As it does when it has written another object of them.
    cluster.execute("delete from ottla_object_entries")
    with pytest.raises(StorageFailed, match="leader of the partition has changed"):
        read(first)
    with pytest.raises(StorageFailed, match="leader of the partition has changed"):
        first.patiently(lambda: first.storage.log.at_timestamp(P, 0))


def test_tails_that_a_dead_broker_did_not_drop_are_dropped(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a broker that runs."""
    first, second = leading(cluster, 1), cluster.join(2)
    assert isinstance(first.storage.commit, PostgresCommit)
    assert isinstance(second.storage.commit, PostgresCommit)
    monkeypatch.setattr(first.storage.commit, "_dropping", None)
    append(first, 0, 1, 2)
    tables = "select n from ottla_tails where object is null"
    left = len(cluster.execute(tables))
    first.close()
    assert left > 2
    for partition_id in range(8, 12):
        monkeypatch.setattr(second.storage.commit._dropping, "_next_search_s", 0.0)
        second.lead(partition_id, 2)
        assert second.commit() is None
        settle(second)
    currents = "select tail from ottla_fences where node_id > 0"
    assert sorted(cluster.execute(tables)) == sorted(cluster.execute(currents))


def test_what_a_dead_broker_has_written_and_not_sealed_is_deleted(
    cluster: JoinedBrokers, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = leading(cluster, 1)
    assert isinstance(first.storage.commit, PostgresCommit)
    monkeypatch.setattr(first.storage.commit._sealing, "_seal", lambda new: False)
    append(first, 0)
    [forgotten] = objects.names()
    other = cluster.join(2)  # it writes still
    other.lead(9, 2)
    assert other.commit() is None
    settle(other)
    assert objects.names() == [forgotten]
    first.close()
    other.close()
    again = cluster.join(2)
    again.lead(P, 2, epoch=2)
    assert again.commit() is None
    append(again, 1, 2)
    assert read(again) == batches(3)
    assert forgotten not in objects.names()


@pytest.fixture
def without(cluster: JoinedBrokers) -> JoinedBroker:
    """The first broker of a store; no bucket is named."""
    more, cluster.more = cluster.more, ""
    broker = cluster.join(1)
    cluster.more = more
    return broker


@pytest.fixture
def before_check(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """Calls of the thread that starts."""
    calls: list[Callable[[], object]] = []
    check = Bucket.check

    def call(self: Bucket) -> None:
        calls.pop()()
        check(self)

    monkeypatch.setattr(Bucket, "check", call)
    return calls


def test_a_start_that_waits_for_the_bucket_lets_others_change_shared_rows(
    cluster: JoinedBrokers, without: JoinedBroker, before_check: list[Callable[[], object]]
) -> None:
    changes = without.storage.cluster_changes
    assert changes is not None
    given = Event()

    def ask() -> None:
        try:
            changes.check()
        except NotInMemory as later:
            later.loading.then(lambda _: given.set())
        else:
            given.set()

    def hang() -> None:
        cluster.callbacks.put(ask)
        assert given.wait(TIMEOUT_S)

    before_check.append(hang)
    second = cluster.join(2)
    assert second.storage.objects is not None


def test_a_bucket_that_another_broker_names_meanwhile_counts(
    cluster: JoinedBrokers, without: JoinedBroker, before_check: list[Callable[[], object]]
) -> None:
    name = "update ottla_store set objects = 's3://other/a'"
    before_check.append(lambda: cluster.execute(name))
    with pytest.raises(StorageUnusable, match="has its objects in s3://other/a, not in s3://"):
        cluster.join(2)
    assert cluster.execute("select objects from ottla_store") == [("s3://other/a",)]
    assert cluster.execute("select node_id from ottla_brokers") == [(1,)]
