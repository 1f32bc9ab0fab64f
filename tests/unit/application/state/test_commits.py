from __future__ import annotations

import pytest

from application.partitions.fetch import DelayedFetch, FetchedPartition, FetchItem, FetchQuery
from domain.errors import BrokerError, OffsetOutOfRange, OutOfOrderSequence, StorageFailed
from domain.partitions.partition import (
    HEADER_READ_BYTES,
    SNAPSHOT_INTERVAL_BYTES,
    Appended,
    Partition,
)
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, FlakyLogStore


class Waiter:
    def __init__(self) -> None:
        self.outcomes: list[StorageFailed | None] = []

    def committed(self, failure: StorageFailed | None) -> None:
        self.outcomes.append(failure)


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t", 2)
    return fake


def stage(fake: FakeBroker, batch: bytearray, index: int = 0) -> tuple[Appended, Waiter]:
    appended = fake.append(batch, index=index)
    assert isinstance(appended, Appended)
    waiter = Waiter()
    fake.broker.commits.wait(waiter.committed)
    return appended, waiter


def wait(fake: FakeBroker, offset: int = 0) -> list[list[FetchedPartition]]:
    """A fetch that waits; what it gets comes into the list."""
    query = FetchQuery([FetchItem("t", bytes(16), 0, offset, 1000, -1)], 500, 1, 1000, False)
    fetched = fake.broker.messages.fetch.fetch(query)
    assert isinstance(fetched, DelayedFetch)
    got: list[list[FetchedPartition]] = []
    fetched.then(got.append)
    return got


# ---- one commit for one pass


def test_all_that_came_in_one_pass_shares_a_commit(fake: FakeBroker) -> None:
    before = fake.commit.count
    waiters = [stage(fake, record_batch(["a"]), index)[1] for index in (0, 1, 0)]
    assert [waiter.outcomes for waiter in waiters] == [[], [], []]
    fake.scheduler.run_pass()
    assert fake.commit.count == before + 1
    assert [waiter.outcomes for waiter in waiters] == [[None], [None], [None]]


def test_nothing_is_committed_when_nothing_was_asked_for(fake: FakeBroker) -> None:
    before = fake.commit.count
    fake.run()
    assert fake.commit.count == before


def test_the_watermark_rises_before_waiters_are_told(fake: FakeBroker) -> None:
    fake.append(record_batch(["a", "b"]))
    seen = []
    fake.broker.commits.when_committed(lambda failure: seen.append(fake.partition().high_watermark))
    assert fake.partition().high_watermark == 0
    fake.run()
    assert seen == [2]


def test_what_nobody_waits_for_is_committed_as_well(fake: FakeBroker) -> None:
    fake.append(record_batch(["a"]))
    fake.run()
    assert fake.partition().high_watermark == 1


def test_while_a_commit_is_under_way_the_next_one_gathers(fake: FakeBroker) -> None:
    fake.commit.hold()
    _, first = stage(fake, record_batch(["a"]))
    fake.run()
    before = fake.commit.count
    second, third = (stage(fake, record_batch([v]))[1] for v in ("b", "c"))
    fake.run()
    assert fake.commit.count == before, "one commit at a time"
    fake.commit.let_go()
    assert (first.outcomes, second.outcomes) == ([None], [])
    assert fake.partition().high_watermark == 1
    fake.run()
    assert fake.commit.count == before + 1
    assert (second.outcomes, third.outcomes) == ([None], [None])
    assert fake.partition().high_watermark == 3


def test_waiting_fetches_look_again_after_the_commit_and_not_before(fake: FakeBroker) -> None:
    got = wait(fake)
    fake.commit.hold()
    stage(fake, record_batch(["a"]))
    fake.run()
    assert got == []
    fake.commit.let_go()
    assert len(got) == 1
    assert got[0][0].high_watermark == 1


def test_a_watcher_that_fails_keeps_nobody_else_from_looking_again(fake: FakeBroker) -> None:
    class Broken:
        def advanced(self, partition: Partition) -> None:
            raise RuntimeError("nobody foresaw this")

    afterwards: list[str] = []
    fake.broker.commits.after_each(lambda: afterwards.append("flushed"))
    fake.core.purgatory.watch([fake.partition(index=1)], Broken())
    got = wait(fake)
    stage(fake, record_batch(["b"]), index=1)
    _, waiter = stage(fake, record_batch(["a"]))
    with pytest.raises(RuntimeError, match="nobody foresaw this"):
        fake.run()
    assert (waiter.outcomes, len(got), afterwards) == ([None], 1, ["flushed"])


# ---- failures


def test_after_a_failed_commit_nothing_of_it_was_ever_there(fake: FakeBroker) -> None:
    stage(fake, record_batch(["kept"]))
    fake.run()
    kept = fake.stored()
    got = wait(fake, offset=1)
    waiters = [stage(fake, record_batch([value] * 3))[1] for value in ("a", "b")]
    assert fake.partition().end.next_offset == 7
    fake.commit.fail_next("no space left")
    fake.run()
    for waiter in waiters:
        assert [str(failure) for failure in waiter.outcomes] == ["no space left"]
    assert (fake.partition().end.next_offset, fake.partition().high_watermark) == (1, 1)
    assert (fake.stored(), got) == (kept, [])


def test_after_a_failed_commit_the_next_batch_gets_the_offset_of_the_lost_one(
    fake: FakeBroker,
) -> None:
    stage(fake, record_batch(["kept"]))
    fake.run()
    lost, _ = stage(fake, record_batch(["lost"]))
    fake.commit.fail_next()
    fake.run()
    again, waiter = stage(fake, record_batch(["again"]))
    fake.run()
    assert again.base_offset == lost.base_offset == 1
    assert waiter.outcomes == [None]
    assert b"lost" not in fake.stored()
    assert b"again" in fake.stored()


def test_a_lost_batch_that_is_sent_again_is_no_duplicate(fake: FakeBroker) -> None:
    for sequence in (0, 1):
        stage(fake, record_batch(["a"], producer_id=5, epoch=0, sequence=sequence))
        if sequence == 0:
            fake.run()
    fake.commit.fail_next()
    fake.run()
    again, _ = stage(fake, record_batch(["a"], producer_id=5, epoch=0, sequence=1))
    assert (again.duplicate, again.base_offset) == (False, 1)
    known, _ = stage(fake, record_batch(["a"], producer_id=5, epoch=0, sequence=0))
    assert (known.duplicate, known.base_offset) == (True, 0)


def test_what_was_pipelined_behind_a_lost_first_batch_does_not_overtake_it(
    fake: FakeBroker,
) -> None:
    stage(fake, record_batch(["a"], producer_id=5, epoch=0, sequence=0))
    fake.commit.fail_next()
    fake.run()
    refused = fake.append(record_batch(["b"], producer_id=5, epoch=0, sequence=1))
    assert isinstance(refused, OutOfOrderSequence)
    again, _ = stage(fake, record_batch(["a"], producer_id=5, epoch=0, sequence=0))
    behind, _ = stage(fake, record_batch(["b"], producer_id=5, epoch=0, sequence=1))
    assert (again.base_offset, behind.base_offset) == (0, 1)


def test_what_gathered_behind_a_failed_commit_fails_with_it(fake: FakeBroker) -> None:
    fake.commit.hold()
    _, first = stage(fake, record_batch(["a"]))
    fake.run()
    _, behind = stage(fake, record_batch(["b"]))
    _, elsewhere = stage(fake, record_batch(["c"]), index=1)
    fake.commit.let_fail()
    for waiter in (first, behind, elsewhere):
        assert len(waiter.outcomes) == 1
        assert waiter.outcomes[0] is not None
    for index in (0, 1):
        assert fake.partition(index=index).end.next_offset == 0
    again, waiter = stage(fake, record_batch(["again"]))
    fake.run()
    assert (again.base_offset, waiter.outcomes) == (0, [None])
    assert fake.stored().count(b"again") == 1
    assert b"b" not in fake.stored()[61:]


def test_partitions_that_had_no_part_in_a_failed_commit_are_left_alone(fake: FakeBroker) -> None:
    stage(fake, record_batch(["a"]), index=1)
    fake.run()
    other = fake.partition(index=1)
    appended_bytes = other.end.appended_bytes
    stage(fake, record_batch(["b"]))
    fake.commit.fail_next()
    fake.run()
    assert (other.end.next_offset, other.end.appended_bytes) == (1, appended_bytes)


def test_a_duplicate_of_a_batch_under_way_waits_for_that_batch(fake: FakeBroker) -> None:
    batch = {"producer_id": 5, "epoch": 0, "sequence": 0}
    fake.commit.hold()
    stage(fake, record_batch(["a"], **batch))  # type: ignore[arg-type]
    fake.run()
    duplicate, waiter = stage(fake, record_batch(["a"], **batch))  # type: ignore[arg-type]
    assert duplicate.duplicate
    fake.commit.let_fail()
    assert waiter.outcomes[0] is not None


# ---- a store that cannot be read after it failed


def test_a_partition_that_cannot_be_rebuilt_is_refused_until_it_can(fake: FakeBroker) -> None:
    stage(fake, record_batch(["kept"]))
    fake.run()
    stage(fake, record_batch(["lost"]))
    fake.commit.fail_next()
    fake.log.failing = StorageFailed("cannot read")
    fake.run()
    for _ in range(2):
        with pytest.raises(StorageFailed, match="cannot read"):
            fake.partition()
    fake.log.failing = None
    assert fake.partition().end.next_offset == 1
    again, _ = stage(fake, record_batch(["again"]))
    fake.run()
    assert again.base_offset == 1


def test_a_consumer_of_such_a_partition_is_told_of_the_failure(fake: FakeBroker) -> None:
    """Not that its offset is out of range: it would begin again at the other end of the log."""
    item = FetchItem("t", bytes(16), 0, 1, 1000, -1)
    query = FetchQuery([item], 0, 1, 1000, False)

    def error() -> BrokerError | None:
        fetched = fake.broker.messages.fetch.fetch(query)
        assert isinstance(fetched, list)
        return fetched[0].error

    stage(fake, record_batch(["kept"]))
    fake.run()
    assert error() is None
    stage(fake, record_batch(["lost"]))
    fake.commit.fail_next()
    fake.log.failing = StorageFailed("cannot read")
    fake.run()
    for _ in range(2):
        assert isinstance(error(), StorageFailed)
    fake.log.failing = None
    assert error() is None
    item.offset = 2
    assert isinstance(error(), OffsetOutOfRange)


def test_a_partition_that_waits_to_be_rebuilt_does_not_hold_the_way_to_the_failure(
    fake: FakeBroker,
) -> None:
    """What could not be staged was met by a request, which the error's frames would hold."""
    _, waiter = stage(fake, record_batch(["lost"]))
    fake.commit.fail_next("could not stage")
    fake.commit.failures[0].__cause__ = OSError("the disk")
    partition = fake.partition()
    fake.run()
    broken = partition.broken
    assert broken is not None
    assert (broken.message, waiter.outcomes[0]) == ("could not stage", broken)
    assert (broken.__cause__, broken.__context__, broken.__traceback__) == (None, None, None)


# ---- snapshots


def test_a_partition_that_grew_much_leaves_a_snapshot_in_the_same_commit(fake: FakeBroker) -> None:
    big = "x" * (SNAPSHOT_INTERVAL_BYTES // 8 - 60)
    for sequence in range(8):
        assert not fake.store.tables.get("partitions")
        fake.appended(record_batch([big], producer_id=5, epoch=0, sequence=sequence))
    assert len(fake.store.tables["partitions"]) == 1
    fake.appended(record_batch(["after it"], producer_id=5, epoch=0, sequence=8))
    again = fake.restarted().partition()
    assert again.end.next_offset == 9
    assert again.bytes_since_snapshot < 200 + HEADER_READ_BYTES


def test_a_start_reads_no_more_than_a_thousand_headers(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for sequence in range(2500):
        assert not isinstance(
            fake.append(record_batch(["x"], producer_id=5, epoch=0, sequence=sequence)),
            BrokerError,
        )
        if sequence % 10 == 0:
            fake.run()
    fake.run()
    again = fake.restarted()
    read: list[int] = []
    headers = FlakyLogStore.headers

    def counted(
        log: FlakyLogStore, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        found = headers(log, partition_id, offset, limit, waits)
        read.append(len(found))
        return found

    monkeypatch.setattr(FlakyLogStore, "headers", counted)
    assert again.partition().end.next_offset == 2500
    assert 0 < sum(read) <= SNAPSHOT_INTERVAL_BYTES // HEADER_READ_BYTES + 10


def test_a_snapshot_costs_what_has_changed_however_many_producers_there_are(
    fake: FakeBroker,
) -> None:
    for producer_id in range(3000):
        fake.append(record_batch(["x"], producer_id=producer_id, epoch=0, sequence=0))
    fake.run()
    fake.append(record_batch(["y"], producer_id=7, epoch=0, sequence=1))
    fake.broker.partitions.snapshot(fake.partition())
    changes = len(fake.store.staged)
    fake.run()
    assert changes == 3  # the batch, its producer, the log end
    # Whoever is not in memory after a restart is as well known as before.
    again = fake.restarted()
    assert len(again.partition().producers) == 0
    retry = again.append(record_batch(["x"], producer_id=2999, epoch=0, sequence=0))
    assert isinstance(retry, Appended)
    assert (retry.duplicate, retry.base_offset) == (True, 2999)


def test_partitions_of_a_failed_commit_are_read_again_one_by_one_as_they_are_used(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk fails a thousand partitions at once, again and again."""
    for index in (0, 1):
        fake.appended(record_batch(["kept"]), index=index)
        fake.append(record_batch(["lost"]), index=index)
    read: list[int] = []
    headers = FlakyLogStore.headers

    def counted(
        log: FlakyLogStore, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        read.append(partition_id)
        return headers(log, partition_id, offset, limit, waits)

    monkeypatch.setattr(FlakyLogStore, "headers", counted)
    fake.commit.fail_next()
    fake.run()
    assert read == []
    assert fake.partition(index=1).end.next_offset == 1
    assert set(read) == {fake.existing().partition_ids[1]}


def test_the_last_snapshots_spare_the_next_start_the_headers(fake: FakeBroker) -> None:
    fake.appended(record_batch(["a", "b"], producer_id=5, epoch=0, sequence=0))
    fake.partition(index=1)
    fake.broker.snapshot_all(lambda failure: None)
    fake.run()
    assert len(fake.store.tables["partitions"]) == 1
    again = fake.restarted()
    assert again.partition().bytes_since_snapshot == 0
    assert again.partition().end.next_offset == 2
    duplicate = again.append(record_batch(["a", "b"], producer_id=5, epoch=0, sequence=0))
    assert isinstance(duplicate, Appended)
    assert duplicate.duplicate


def test_a_waiter_that_raises_keeps_nobody_else_from_being_told(fake: FakeBroker) -> None:
    def fails(failure: object) -> None:
        raise RuntimeError("a bug of ours")

    seen: list[object] = []
    fake.append(record_batch(["a"]))
    fake.broker.commits.when_committed(fails)
    fake.broker.commits.when_committed(seen.append)
    with pytest.raises(RuntimeError):
        fake.run()
    assert seen == [None]
    assert fake.appended(record_batch(["b"])).base_offset == 1
