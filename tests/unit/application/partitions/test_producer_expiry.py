from __future__ import annotations

import pytest

from application.background.runner import PAUSE_MS, SLICE_NS
from application.partitions import producer_expiry
from application.state.runtime import ignore
from domain.cluster.nodes import Leader, Node
from domain.errors import BrokerError
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.transactions import append_in_transaction, end_transaction


def expiring(partitions: int = 1, check_interval_ms: int = 100) -> FakeBroker:
    fake = FakeBroker(
        producer_id_expiration_ms="1000",
        producer_id_expiration_check_interval_ms=str(check_interval_ms),
    )
    fake.topic("t", partitions)
    fake.broker.start_upkeep()
    return fake


def append(
    fake: FakeBroker, producer_id: int = 7, sequence: int = 0, index: int = 0, at_ms: int = 0
) -> None:
    timestamp = fake.clock.now_ms() + at_ms
    batch = record_batch(
        ["a"], producer_id=producer_id, epoch=0, sequence=sequence, timestamp=timestamp
    )
    assert not isinstance(fake.append(batch, index=index), BrokerError)


def snapshot(fake: FakeBroker) -> None:
    fake.run()
    fake.broker.snapshot_all(ignore)
    fake.run()


def test_an_idle_producer_is_removed() -> None:
    fake = expiring()
    append(fake)
    fake.scheduler.advance(900)
    assert len(fake.partition().producers) == 1
    fake.scheduler.advance(300)
    assert len(fake.partition().producers) == 0
    append(fake, sequence=40)  # an unknown producer may start anywhere


def test_a_producer_that_appends_is_remembered() -> None:
    fake = expiring()
    for sequence in range(5):
        append(fake, sequence=sequence)
        fake.scheduler.advance(600)
    assert len(fake.partition().producers) == 1


def test_an_idle_producer_is_deleted_from_snapshots() -> None:
    fake = expiring()
    append(fake)
    append(fake, 8, at_ms=900)
    snapshot(fake)
    assert len(fake.store.tables["producers"]) == 2
    again = fake.restarted()
    again.broker.start_upkeep()
    again.partition()
    again.clock.advance(1050)
    again.scheduler.advance(100 + PAUSE_MS)
    assert [key[-1] for key in fake.store.tables["producers"]] == [8]
    append(again, sequence=40)


def test_a_producer_is_deleted_if_only_its_snapshot_has_an_open_transaction() -> None:
    fake = expiring()
    append_in_transaction(fake, 7)
    snapshot(fake)
    fake.scheduler.advance(1300)
    assert len(fake.store.tables["producers"]) == 1
    end_transaction(fake, 7, committed=True)
    fake.run()
    fake.scheduler.advance(1300 + PAUSE_MS)
    assert len(fake.partition().producers) == 0
    assert fake.store.tables["producers"] == {}


def test_a_producer_of_a_partition_that_nobody_uses_after_a_restart_is_deleted() -> None:
    fake = expiring()
    append_in_transaction(fake, 7)
    snapshot(fake)
    end_transaction(fake, 7, committed=True)
    fake.run()
    again = fake.restarted()
    again.broker.start_upkeep()
    # The row says that the transaction is open: the partition has to be read to know better.
    again.scheduler.advance(2 * (1300 + PAUSE_MS))
    assert again.store.tables["producers"] == {}


def test_an_expired_producer_is_not_loaded_from_a_snapshot() -> None:
    fake = expiring()
    append(fake)
    snapshot(fake)
    again = fake.restarted()
    again.partition().producers.expire(again.clock.now_ms() + 1)
    append(again, sequence=40)


def test_many_producers_are_expired_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producer_expiry, "ROWS_PER_COMMIT", 2)
    fake = expiring(3, 5000)
    for index in range(3):
        for producer_id in range(3):
            append(fake, producer_id, index=index)
    snapshot(fake)
    seen = []
    fake.clock.look_ns = SLICE_NS
    fake.scheduler.advance(4999)
    for _ in range(10):
        fake.scheduler.advance(PAUSE_MS)
        seen.append((in_memory(fake), len(fake.store.tables["producers"])))
    assert seen[:6] == [(6, 9), (3, 9), (0, 9), (0, 7), (0, 5), (0, 3)]
    assert seen[-1] == (0, 0)
    assert len(fake.scheduler.timers) == 7, (
        "the next rounds, of committed offsets, retention, compaction and transactions too"
    )


def in_memory(fake: FakeBroker) -> int:
    return sum(len(one.producers) for one in fake.broker.catalog.loaded())


def with_idle_producers(count: int) -> FakeBroker:
    """Their rows are due to expire in the next round, which starts in a millisecond."""
    fake = expiring(count, 5000)
    for index in range(count):
        append(fake, index, index=index)
    snapshot(fake)
    fake.scheduler.advance(4999)
    return fake


def test_after_the_stop_nothing_expires_in_memory_or_in_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(producer_expiry, "ROWS_PER_COMMIT", 1)
    stopped_after = []
    for passed_ms in range(0, 8 * PAUSE_MS, PAUSE_MS):
        fake = with_idle_producers(3)
        fake.clock.look_ns = SLICE_NS
        fake.scheduler.advance(passed_ms)
        fake.broker.stop_upkeep()
        before = in_memory(fake), list(fake.store.tables["producers"]), fake.commit.count
        fake.scheduler.advance(4_000_000)
        rows = list(fake.store.tables["producers"])
        assert (in_memory(fake), rows, fake.commit.count) == before
        assert fake.scheduler.timers == []
        stopped_after.append((in_memory(fake), len(rows)))
    assert {(3, 3), (1, 3), (0, 2), (0, 0)} <= set(stopped_after), stopped_after


def test_a_round_that_waits_for_a_commit_ends_with_the_stop() -> None:
    fake = with_idle_producers(3)
    fake.commit.hold()
    fake.scheduler.advance(1)
    assert fake.commit.under_way
    fake.broker.stop_upkeep()
    fake.commit.let_go()
    fake.run()
    assert len(fake.store.tables["producers"]) == 3
    assert fake.store.staged == []


def test_rows_of_a_partition_that_another_node_leads_are_left_to_it() -> None:
    fake = expiring()
    append(fake)
    snapshot(fake)
    fake.placement.add(Node(2))
    fake.placement.move(fake.existing().partition_ids[0], Leader(2, 1))
    fake.scheduler.advance(1300)
    assert len(fake.store.tables["producers"]) == 1
    fake.placement.move(fake.existing().partition_ids[0], Leader(1, 2))
    fake.scheduler.advance(300)
    assert fake.store.tables["producers"] == {}
