"""Batches in objects, as a broker reads them that does not lead their log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from struct import pack

import pytest

from infrastructure.storage.postgresql import log_view
from infrastructure.storage.postgresql.log_store import PostgresLogStore
from tests.contract.batches import batch
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers
from tests.contract.postgres_server import running_postgres
from tests.contract.s3_objects import Objects
from tests.contract.sealed_logs import (
    P,
    aborted,
    commit_of,
    fetch,
    filled,
    joined,
    records,
    sealed_log,
    sealing_leader,
    snapshot,
)
from tests.contract.test_postgresql_objects_brokers import append, settle

#: Batches that have a table, and then an object.
SEVERAL = 1600

pytestmark = pytest.mark.usefixtures("at_once", "s3")


@pytest.fixture
def cluster(objects: Objects) -> Iterator[JoinedBrokers]:
    with closing(joined(objects)) as cluster:
        yield cluster


@pytest.fixture
def leader(cluster: JoinedBrokers) -> JoinedBroker:
    return sealing_leader(cluster)


@pytest.fixture
def follower(cluster: JoinedBrokers, leader: JoinedBroker) -> JoinedBroker:
    return cluster.join(2)


def is_sealed(broker: JoinedBroker, first_offset: int, end_offset: int) -> bool:
    """With nothing in memory."""
    log = broker.storage.log
    assert isinstance(log, PostgresLogStore)
    log._contents.cache.clear()
    return sealed_log(broker).is_sealed(P, first_offset, end_offset)


def test_a_follower_reads_what_is_in_objects(leader: JoinedBroker, follower: JoinedBroker) -> None:
    read = [records(follower, offset) for offset in range(6)]
    assert read == [batch(0, b"x"), batch(1, b"x"), batch(2, b"x"), batch(3, b"x"), None, None]
    found = fetch(follower, 0)
    assert found is not None
    assert (found.log_start_offset, found.high_watermark, found.last_stable_offset) == (0, 5, 5)
    assert found.aborted == []
    assert follower.storage.log.partition_ids() == []


def test_a_second_read_asks_no_object(
    leader: JoinedBroker, follower: JoinedBroker, objects: Objects
) -> None:
    """What is in an object never changes: only the database is asked whether it counts."""
    assert fetch(follower, 1) is not None
    for name in objects.names():
        objects.delete(name)
    assert records(follower, 1) == batch(1, b"x")
    assert records(follower, 0) is None


def test_the_next_object_is_read_ahead(
    leader: JoinedBroker, follower: JoinedBroker, objects: Objects
) -> None:
    assert fetch(follower, 0) is not None
    follower.run_until(lambda: not sealed_log(follower)._loading)  # type: ignore[attr-defined]
    for name in objects.names():
        objects.delete(name)
    assert records(follower, 1) == batch(1, b"x")


@pytest.mark.parametrize(("offset", "end", "sealed"), [(0, 4, True), (1, 2, True), (3, 5, False)])
def test_the_leader_knows_what_is_sealed(
    leader: JoinedBroker, offset: int, end: int, sealed: bool
) -> None:
    assert not sealed_log(leader).is_sealed(P, offset, end)  # it is in memory
    assert is_sealed(leader, offset, end) is sealed


def test_nothing_is_sealed_without_a_snapshot(cluster: JoinedBrokers) -> None:
    """A follower would not know how much of the log is stable."""
    leader, follower = cluster.join(1), cluster.join(2)
    leader.lead(P, 1)
    assert leader.commit() is None
    append(leader, 0, 1)
    assert not is_sealed(leader, 0, 1)
    assert fetch(follower, 0) is None


def test_records_of_open_transactions_are_left_to_the_leader(
    leader: JoinedBroker, follower: JoinedBroker
) -> None:
    snapshot(leader, 5, opened=((9, 2),))
    assert leader.commit() is None
    assert is_sealed(leader, 0, 2)
    assert not is_sealed(leader, 0, 3)
    found = fetch(follower, 1)
    assert found is not None
    assert (found.high_watermark, found.last_stable_offset) == (5, 2)
    assert fetch(follower, 2) is None


def test_aborted_transactions_are_those_that_overlap_the_records(
    leader: JoinedBroker, follower: JoinedBroker
) -> None:
    """Of markers 1 to 4; producer 12 has begun before its records in the fetch."""
    aborted(leader, 0, 10, 0, 1)
    aborted(leader, 2, 11, 1, 1)
    aborted(leader, 3, 12, 0, 4)
    aborted(leader, 4, 13, 4, 5)
    assert leader.commit() is None
    by_offset = []
    for offset in range(4):
        found = fetch(follower, offset)
        assert found is not None
        by_offset.append([(one.producer_id, one.first_offset) for one in found.aborted])
    assert by_offset == [[(10, 0), (12, 0)], [(11, 1), (12, 0)], [(11, 1), (12, 0)], [(12, 0)]]


def test_of_very_many_aborted_transactions_the_first_ones_are_enough(
    leader: JoinedBroker, follower: JoinedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No record is served whose transactions are not all known."""
    monkeypatch.setattr(log_view, "_MOST_ABORTED", 2)
    monkeypatch.setattr(log_view, "_VIEW", log_view._VIEW.replace("limit 1000", "limit 2"))
    for offset in (0, 1, 2, 3):
        aborted(leader, offset, 10 + offset, offset, offset + 1)
    assert leader.commit() is None
    found = fetch(follower, 1)
    assert found is not None
    assert [one.producer_id for one in found.aborted] == [11]
    aborted(leader, 2, 12, 0, 1)
    assert leader.commit() is None
    assert fetch(follower, 1) is None  # later ones may begin at 1


def test_deleted_records_do_not_come_back(leader: JoinedBroker, follower: JoinedBroker) -> None:
    """From the commit on that moves the log start, before anything is removed."""
    assert records(follower, 1) == batch(1, b"x")
    snapshot(leader, 5, start=2)
    assert leader.commit() is None
    assert fetch(follower, 1) is None
    found = fetch(follower, 2)
    assert found is not None and found.log_start_offset == 2
    while not leader.patiently(lambda: leader.storage.log.trim(P, 3, 100)).done:
        pass
    assert leader.commit() is None
    assert fetch(follower, 2) is None
    assert records(follower, 3) == batch(3, b"x")


@pytest.mark.parametrize("reads_meanwhile", [False, True])
def test_replaced_batches_do_not_come_back(
    leader: JoinedBroker, follower: JoinedBroker, reads_meanwhile: bool
) -> None:
    """Compaction: what was read before does not count, and the new batches are in a table."""
    assert records(follower, 1) == batch(1, b"x")
    new = batch(1, b"new")
    leader.patiently(lambda: leader.storage.log.replace(P, 1, 1, [new], []))
    assert leader.commit() is None
    if reads_meanwhile:
        assert fetch(follower, 1) is None
    assert not is_sealed(leader, 0, 2)
    seals = commit_of(leader)._sealing
    assert seals is not None
    seals.is_busy = False
    append(leader, 5, 6)
    settle(leader)
    assert records(follower, 1) == new


def test_objects_that_are_written_anew_are_found(
    cluster: JoinedBrokers, leader: JoinedBroker, follower: JoinedBroker, objects: Objects
) -> None:
    """The piece in memory is of an object that is gone."""
    assert records(follower, 1) == batch(1, b"x")
    cluster.execute(
        "update ottla_tails set object = object || '-new' where n ="
        f" (select tail from ottla_runs where partition_id = {P} and first_offset = 1)"
    )
    for name in objects.names():
        objects.put(f"{name}-new", objects.data(name))
        objects.delete(name)
    assert records(follower, 1) == batch(1, b"x")
    assert fetch(follower, 0) is None


def test_all_pieces_of_an_object_that_is_gone_are_forgotten(objects: Objects) -> None:
    """Reads from different offsets on have loaded the same batches."""
    with closing(joined(objects, SEVERAL)) as cluster:
        _, follower = filled(cluster)
        for offset in (3, 2, 1):
            assert records(follower, offset) is not None
        cluster.execute("update ottla_tails set object = object || '-new' where object is not null")
        for name in objects.names():
            objects.put(f"{name}-new", objects.data(name))
            objects.delete(name)
        found = records(follower, 3)
        assert found is not None and found.startswith(batch(3, b"x"))


def test_a_deleted_log_is_not_served(leader: JoinedBroker, follower: JoinedBroker) -> None:
    assert records(follower, 1) == batch(1, b"x")
    leader.storage.state.put("partitions", pack(">I", P), None)
    while not leader.patiently(lambda: leader.storage.log.drop(P, 100)):
        assert leader.commit() is None
    assert leader.commit() is None
    assert fetch(follower, 1) is None


def test_a_damaged_object_is_left_to_the_leader(
    leader: JoinedBroker, follower: JoinedBroker, objects: Objects
) -> None:
    for name in objects.names():
        objects.put(name, objects.data(name)[:-1] + b"?")
    assert fetch(follower, 0) is None


def test_limits_of_bytes_are_those_of_any_read(
    leader: JoinedBroker, follower: JoinedBroker
) -> None:
    found = fetch(follower, 0, max_bytes=1, whole_first=False)
    assert found is not None and not found.records and found.last_stable_offset > 0
    found = fetch(follower, 0, max_bytes=1, whole_first=True)
    assert found is not None and bytes(found.records) == batch(0, b"x")


def test_a_new_leader_goes_on_where_the_follower_reads(
    cluster: JoinedBrokers, leader: JoinedBroker, follower: JoinedBroker
) -> None:
    third = cluster.join(3)
    leader.lead(P, 3, epoch=2)
    assert leader.commit() is None
    third.run_until(lambda: third.last_offsets(P))
    assert records(follower, 2) == batch(2, b"x")
    assert is_sealed(third, 0, 4)


def test_what_is_replaced_in_the_middle_of_an_object_is_left_out(objects: Objects) -> None:
    """The object has it still, and so has the piece in memory."""
    three = b"".join(batch(one, b"x") for one in range(3))
    with closing(joined(objects, SEVERAL)) as cluster:
        leader, follower = filled(cluster)
        first = records(follower, 0)
        assert first is not None and first.startswith(three)
        leader.patiently(lambda: leader.storage.log.replace(P, 1, 1, [batch(1, b"new")], []))
        assert leader.commit() is None
        assert [records(follower, one) for one in (0, 1)] == [batch(0, b"x"), None]
        behind = records(follower, 2)
        assert behind is not None and behind.startswith(batch(2, b"x"))


def test_what_commits_write_to_objects_is_read_too(objects: Objects) -> None:
    """Before any table is full."""
    more = f"{objects.url}&commit.to=objects"
    with closing(JoinedBrokers(running_postgres(), more=more)) as cluster:
        leader, follower = cluster.join(1), cluster.join(2)
        leader.lead(P, 1)
        assert leader.commit() is None
        large = [batch(one, b"x", size_bytes=100_000) for one in range(2)]
        for one in range(2):
            leader.storage.log.append(P, one, large[one])
            assert leader.commit() is None
        snapshot(leader, 2)
        assert leader.commit() is None
        assert is_sealed(leader, 0, 2)
        assert [records(follower, one) for one in (0, 1)] == large
        assert fetch(follower, 2) is None
