from __future__ import annotations

import pytest

from application.partitions.fetch_query import FetchedPartition, FetchItem, FetchQuery
from application.partitions.pending_fetch import DelayedFetch
from application.state.runtime import ignore
from domain.errors import BrokerError, OffsetOutOfRange, OutOfOrderSequence, StorageFailed
from domain.partitions.appended import Appended
from domain.partitions.partition import (
    HEADER_READ_BYTES,
    SNAPSHOT_INTERVAL_BYTES,
    Partition,
)
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, FlakyLogStore, with_topic


class Waiter:
    """Records the outcomes of commits."""

    def __init__(self) -> None:
        self.outcomes: list[StorageFailed | None] = []

    def committed(self, failure: StorageFailed | None) -> None:
        self.outcomes.append(failure)


class HeaderReads:
    """Partition and number of headers of each read."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.reads: list[tuple[int, int]] = []
        headers = FlakyLogStore.headers

        def counted(
            log: FlakyLogStore, partition_id: int, offset: int, limit: int, waits: bool = False
        ) -> list[bytes]:
            found = headers(log, partition_id, offset, limit, waits)
            self.reads.append((partition_id, len(found)))
            return found

        patch.setattr(FlakyLogStore, "headers", counted)


@pytest.fixture
def fake() -> FakeBroker:
    return with_topic(2)


def stage(fake: FakeBroker, batch: bytearray, index: int = 0) -> tuple[Appended, Waiter]:
    appended = fake.append(batch, index=index)
    assert isinstance(appended, Appended)
    waiter = Waiter()
    fake.broker.commits.wait(waiter.committed)
    return appended, waiter


def wait(fake: FakeBroker, offset: int = 0) -> list[list[FetchedPartition]]:
    """A waiting fetch; its result is added to the list."""
    query = FetchQuery([FetchItem("t", bytes(16), 0, offset, 1000, -1)], 500, 1, 1000, False)
    fetched = fake.broker.messages.fetch.fetch(query)
    assert isinstance(fetched, DelayedFetch)
    got: list[list[FetchedPartition]] = []
    fetched.then(got.append)
    return got


# ---- one commit for one pass


def test_all_batches_of_a_pass_share_a_commit(fake: FakeBroker) -> None:
    before = fake.commit.count
    waiters = [stage(fake, record_batch(["a"]), index)[1] for index in (0, 1, 0)]
    assert [waiter.outcomes for waiter in waiters] == [[], [], []]
    fake.scheduler.run_pass()
    assert fake.commit.count == before + 1
    assert [waiter.outcomes for waiter in waiters] == [[None], [None], [None]]


@pytest.mark.parametrize("value_bytes, begins_at_once", [(10_000, False), (100_000, True)])
def test_a_commit_that_is_worth_it_begins_when_the_one_before_ends(
    fake: FakeBroker, value_bytes: int, begins_at_once: bool
) -> None:
    fake.commit.hold()
    _, first = stage(fake, record_batch(["a"]))
    fake.scheduler.run_pass()
    _, second = stage(fake, record_batch(["x" * value_bytes]))
    before = fake.commit.count
    fake.commit.let_go()
    assert first.outcomes == [None]
    assert fake.commit.count - before == len(second.outcomes) == int(begins_at_once)
    fake.scheduler.run_pass()
    assert fake.commit.count - before == len(second.outcomes) == 1


def test_without_changes_there_is_no_commit(fake: FakeBroker) -> None:
    before = fake.commit.count
    fake.run()
    assert fake.commit.count == before


def test_the_high_watermark_rises_before_callbacks_run(fake: FakeBroker) -> None:
    fake.append(record_batch(["a", "b"]))
    seen = []
    fake.broker.commits.when_committed(lambda failure: seen.append(fake.partition().high_watermark))
    assert fake.partition().high_watermark == 0
    fake.run()
    assert seen == [2]


def test_batches_that_arrive_during_a_commit_share_the_next_one(fake: FakeBroker) -> None:
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


def test_waiting_fetches_complete_after_the_commit(fake: FakeBroker) -> None:
    got = wait(fake)
    fake.commit.hold()
    stage(fake, record_batch(["a"]))
    fake.run()
    assert got == []
    fake.commit.let_go()
    assert len(got) == 1
    assert got[0][0].high_watermark == 1


def test_a_fault_in_a_watcher_does_not_affect_other_watchers(fake: FakeBroker) -> None:
    class Broken:
        def advanced(self, partition: Partition) -> None:
            raise RuntimeError("a bug")

    afterwards: list[str] = []
    fake.broker.commits.after_each(lambda: afterwards.append("flushed"))
    fake.core.purgatory.watch([fake.partition(index=1)], Broken())
    got = wait(fake)
    stage(fake, record_batch(["b"]), index=1)
    _, waiter = stage(fake, record_batch(["a"]))
    with pytest.raises(RuntimeError, match="a bug"):
        fake.run()
    assert (waiter.outcomes, len(got), afterwards) == ([None], 1, ["flushed"])


# ---- failures


def test_a_failed_commit_leaves_no_trace(fake: FakeBroker) -> None:
    for index in (0, 1):
        stage(fake, record_batch(["first"]), index)
    fake.run()
    other = fake.partition(index=1)
    before, appended_bytes = fake.stored(), other.end.appended_bytes
    got = wait(fake, offset=1)
    waiters = [stage(fake, record_batch([value] * 3))[1] for value in ("lost", "b")]
    assert fake.partition().end.next_offset == 7
    fake.commit.fail_next("no space left")
    fake.run()
    for waiter in waiters:
        assert [str(failure) for failure in waiter.outcomes] == ["no space left"]
    assert (fake.partition().end.next_offset, fake.partition().high_watermark) == (1, 1)
    assert (fake.stored(), got) == (before, [])
    assert (other.end.next_offset, other.end.appended_bytes) == (1, appended_bytes)
    again, waiter = stage(fake, record_batch(["again"]))
    fake.run()
    assert (again.base_offset, waiter.outcomes) == (1, [None])
    assert b"again" in fake.stored() and b"lost" not in fake.stored()


def test_a_retry_of_a_lost_batch_is_no_duplicate(fake: FakeBroker) -> None:
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


def test_a_pipelined_batch_is_refused_after_a_lost_first_batch(
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


def test_batches_staged_during_a_failed_commit_fail_with_it(fake: FakeBroker) -> None:
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


def test_a_duplicate_waits_for_the_commit_of_its_batch(fake: FakeBroker) -> None:
    batch = {"producer_id": 5, "epoch": 0, "sequence": 0}
    fake.commit.hold()
    stage(fake, record_batch(["a"], **batch))  # type: ignore[arg-type]
    fake.run()
    duplicate, waiter = stage(fake, record_batch(["a"], **batch))  # type: ignore[arg-type]
    assert duplicate.duplicate
    fake.commit.let_fail()
    assert waiter.outcomes[0] is not None


def test_a_partition_is_unavailable_until_it_can_be_reloaded(fake: FakeBroker) -> None:
    stage(fake, record_batch(["first"]))
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


def test_a_fetch_of_such_a_partition_gets_the_storage_error(fake: FakeBroker) -> None:
    """OFFSET_OUT_OF_RANGE would make it reset its offset."""
    item = FetchItem("t", bytes(16), 0, 1, 1000, -1)
    query = FetchQuery([item], 0, 1, 1000, False)

    def error() -> BrokerError | None:
        fetched = fake.broker.messages.fetch.fetch(query)
        assert isinstance(fetched, list)
        return fetched[0].error

    stage(fake, record_batch(["first"]))
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


def test_a_broken_partition_keeps_no_traceback(
    fake: FakeBroker,
) -> None:
    """The traceback of a failed staging has the frames of a request."""
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


def test_a_partition_is_snapshotted_after_an_interval_of_bytes(fake: FakeBroker) -> None:
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
        batch = record_batch(["x"], producer_id=5, epoch=0, sequence=sequence)
        assert isinstance(fake.append(batch), Appended)
        if sequence % 10 == 0:
            fake.run()
    fake.run()
    again = fake.restarted()
    headers = HeaderReads(monkeypatch)
    assert again.partition().end.next_offset == 2500
    assert (
        0
        < sum(count for _, count in headers.reads)
        <= SNAPSHOT_INTERVAL_BYTES // HEADER_READ_BYTES + 10
    )


def test_a_snapshot_writes_changed_producers_only(
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
    # After a restart, producers are loaded from the store when they append.
    again = fake.restarted()
    assert len(again.partition().producers) == 0
    retry = again.append(record_batch(["x"], producer_id=2999, epoch=0, sequence=0))
    assert isinstance(retry, Appended)
    assert (retry.duplicate, retry.base_offset) == (True, 2999)


def test_partitions_of_a_failed_commit_are_reloaded_when_they_are_used(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk fails thousands of partitions at once, repeatedly."""
    for index in (0, 1):
        fake.appended(record_batch(["first"]), index=index)
        fake.append(record_batch(["lost"]), index=index)
    headers = HeaderReads(monkeypatch)
    fake.commit.fail_next()
    fake.run()
    assert headers.reads == []
    assert fake.partition(index=1).end.next_offset == 1
    assert {one for one, _ in headers.reads} == {fake.existing().partition_ids[1]}


def test_after_the_last_snapshots_a_start_reads_no_headers(fake: FakeBroker) -> None:
    batch = record_batch(["a", "b"], producer_id=5, epoch=0, sequence=0)
    fake.appended(batch)
    fake.partition(index=1)
    fake.broker.snapshot_all(ignore)
    fake.run()
    assert len(fake.store.tables["partitions"]) == 1
    again = fake.restarted()
    assert again.partition().bytes_since_snapshot == 0
    assert again.partition().end.next_offset == 2
    assert again.appended(batch).duplicate


def test_a_fault_in_a_callback_does_not_affect_other_callbacks(fake: FakeBroker) -> None:
    def fails(failure: object) -> None:
        raise RuntimeError("a bug")

    seen: list[object] = []
    fake.append(record_batch(["a"]))
    fake.broker.commits.when_committed(fails)
    fake.broker.commits.when_committed(seen.append)
    with pytest.raises(RuntimeError):
        fake.run()
    assert seen == [None]
    assert fake.appended(record_batch(["b"])).base_offset == 1
