from __future__ import annotations

import pytest

from application.partitions.fetch import FetchedPartition, FetchItem, FetchQuery, PendingFetch
from domain.errors import (
    BrokerError,
    OffsetOutOfRange,
    StorageFailed,
    UnknownLeaderEpoch,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from domain.messages.batch import RecordBatch
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker

NO_ID = bytes(16)
MANY = 1 << 20


def item(
    index: int = 0,
    offset: int = 0,
    max_bytes: int = MANY,
    epoch: int = -1,
    name: str = "t",
    topic_id: bytes = NO_ID,
) -> FetchItem:
    return FetchItem(name or None, topic_id, index, offset, max_bytes, epoch)


def query(
    *items: FetchItem, wait_ms: int = 500, min_bytes: int = 1, max_bytes: int = MANY
) -> FetchQuery:
    return FetchQuery(list(items), wait_ms, min_bytes, max_bytes, False)


class Fetch:
    """One fetch, and what it got."""

    def __init__(self, fake: FakeBroker, wanted: FetchQuery) -> None:
        self.got: list[FetchedPartition] | None = None
        fetched = fake.broker.messages.fetch.fetch(wanted)
        self.pending = fetched if isinstance(fetched, PendingFetch) else None
        if isinstance(fetched, PendingFetch):
            fetched.then(self._take)
        else:
            self.got = fetched

    def _take(self, got: list[FetchedPartition]) -> None:
        self.got = got

    @property
    def waits(self) -> bool:
        return self.got is None

    @property
    def only(self) -> FetchedPartition:
        assert self.got is not None
        (one,) = self.got
        return one

    def errors(self) -> list[type[BrokerError] | None]:
        assert self.got is not None
        return [None if one.error is None else type(one.error) for one in self.got]

    def offsets(self) -> list[list[int]]:
        """Of each partition, the base offsets of the batches it gave."""
        assert self.got is not None
        return [base_offsets(one.records) for one in self.got]


def base_offsets(records: bytes) -> list[int]:
    found = []
    while records:
        batch = RecordBatch(memoryview(records))
        found.append(batch.base_offset)
        records = records[batch.size_bytes :]
    return found


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t", 3)
    return fake


def fill(fake: FakeBroker, index: int = 0, batches: int = 3, name: str = "t") -> int:
    """Batches of two records each; returns the size of one."""
    batch = record_batch(["x" * 100, "y" * 100])
    for _ in range(batches):
        fake.appended(batch, name, index)
    return len(batch)


# ---- what there is


def test_batches_come_from_the_one_that_holds_the_offset(fake: FakeBroker) -> None:
    fill(fake)
    for offset, expected in ((0, [0, 2, 4]), (1, [0, 2, 4]), (2, [2, 4]), (5, [4])):
        fetch = Fetch(fake, query(item(offset=offset)))
        assert fetch.offsets() == [expected]
        one = fetch.only
        assert (one.high_watermark, one.last_stable_offset, one.log_start_offset) == (6, 6, 0)


def test_what_is_not_durable_is_not_seen(fake: FakeBroker) -> None:
    fake.commit.hold()
    fake.append(record_batch(["a"]))
    fake.run()
    fetch = Fetch(fake, query(item(), wait_ms=0))
    assert (fetch.only.records, fetch.only.high_watermark) == (b"", 0)
    fake.commit.let_go()
    assert Fetch(fake, query(item())).offsets() == [[0]]


def test_at_the_end_of_the_log_there_is_nothing(fake: FakeBroker) -> None:
    fill(fake)
    one = Fetch(fake, query(item(offset=6), wait_ms=0)).only
    assert (one.records, one.error, one.high_watermark) == (b"", None, 6)


# ---- limits


def test_a_partition_gives_no_more_than_was_asked_of_it(fake: FakeBroker) -> None:
    size = fill(fake)
    for max_bytes, batches in ((2 * size, 2), (2 * size - 1, 1), (3 * size, 3)):
        fetch = Fetch(fake, query(item(max_bytes=max_bytes)))
        assert len(fetch.only.records) == batches * size


@pytest.mark.parametrize("max_bytes", [0, 1, 100])
def test_the_first_batch_comes_whole_however_small_the_limits(
    fake: FakeBroker, max_bytes: int
) -> None:
    fill(fake)
    assert Fetch(fake, query(item(max_bytes=max_bytes))).offsets() == [[0]]
    assert Fetch(fake, query(item(), max_bytes=max_bytes)).offsets() == [[0]]


def test_only_the_first_partition_that_has_something_may_exceed_its_limit(
    fake: FakeBroker,
) -> None:
    fill(fake, 1)
    fill(fake, 2)
    items = [item(index, max_bytes=10) for index in range(3)]
    assert Fetch(fake, query(*items)).offsets() == [[], [0], []]


def test_all_partitions_share_the_limit_of_the_request(fake: FakeBroker) -> None:
    size = fill(fake, 0)
    fill(fake, 1)
    fill(fake, 2)
    items = [item(index) for index in range(3)]
    assert Fetch(fake, query(*items, max_bytes=4 * size)).offsets() == [[0, 2, 4], [0], []]
    assert Fetch(fake, query(*items, max_bytes=3 * size)).offsets() == [[0, 2, 4], [], []]


def test_the_broker_has_a_limit_of_its_own() -> None:
    fake = FakeBroker(fetch_max_bytes="1024")
    fake.topic("t")
    size = fill(fake, batches=6)
    assert len(Fetch(fake, query(item())).only.records) == 1024 // size * size


# ---- errors, which are answered at once


def test_errors_are_told_partition_by_partition(fake: FakeBroker) -> None:
    fill(fake)
    known = fake.existing()
    fetch = Fetch(
        fake,
        query(
            item(offset=7),
            item(offset=-1),
            item(3),
            item(-1),
            item(name="unknown"),
            item(name="", topic_id=b"\7" * 16),
            item(epoch=1),
            item(epoch=0),
            item(name="", topic_id=known.topic_id),
            min_bytes=MANY,
        ),
    )
    assert not fetch.waits
    assert fetch.errors() == [
        OffsetOutOfRange,
        OffsetOutOfRange,
        UnknownTopicOrPartition,
        UnknownTopicOrPartition,
        UnknownTopicOrPartition,
        UnknownTopicId,
        UnknownLeaderEpoch,
        None,
        None,
    ]
    assert fetch.got is not None
    failed = fetch.got[0]
    assert (failed.records, failed.high_watermark, failed.log_start_offset) == (b"", -1, -1)


def test_a_negative_leader_epoch_is_none(fake: FakeBroker) -> None:
    fill(fake, 0)
    assert Fetch(fake, query(item(0, epoch=-2))).errors() == [None]


def test_a_store_that_cannot_be_read_fails_its_partition_alone(fake: FakeBroker) -> None:
    fill(fake, 0)
    Fetch(fake, query(item(0), item(1)))
    fake.log.failing = StorageFailed("cannot read")
    assert Fetch(fake, query(item(0), item(1))).errors()[0] is StorageFailed


# ---- waiting


def test_a_fetch_waits_for_the_first_bytes(fake: FakeBroker) -> None:
    fetch = Fetch(fake, query(item(0), item(1)))
    assert fetch.waits
    fill(fake, 2, batches=1)
    assert fetch.waits, "another partition"
    fill(fake, 1, batches=1)
    assert fetch.offsets() == [[], [0]]
    assert fake.scheduler.timers == []


def test_a_fetch_waits_until_there_is_enough(fake: FakeBroker) -> None:
    size = fill(fake, 0, batches=1)
    fetch = Fetch(fake, query(item(0), item(1), min_bytes=3 * size))
    assert fetch.waits
    fill(fake, 1, batches=1)
    assert fetch.waits
    fill(fake, 0, batches=1)
    assert fetch.offsets() == [[0, 2], [0]]


def test_what_is_there_is_enough(fake: FakeBroker) -> None:
    size = fill(fake, 0, batches=2)
    assert not Fetch(fake, query(item(), min_bytes=2 * size)).waits
    assert Fetch(fake, query(item(), min_bytes=2 * size + 1)).waits


def test_a_fetch_that_a_limit_ends_does_not_wait_for_more(fake: FakeBroker) -> None:
    size = fill(fake)
    assert Fetch(fake, query(item(max_bytes=2 * size), min_bytes=MANY)).offsets() == [[0, 2]]
    assert Fetch(fake, query(item(max_bytes=3 * size), min_bytes=MANY)).waits


@pytest.mark.parametrize("min_bytes", [0, -1])
def test_who_needs_nothing_waits_for_nothing(fake: FakeBroker, min_bytes: int) -> None:
    assert not Fetch(fake, query(item(), min_bytes=min_bytes)).waits


@pytest.mark.parametrize("wait_ms", [0, -1])
def test_who_has_no_time_is_answered_at_once(fake: FakeBroker, wait_ms: int) -> None:
    assert Fetch(fake, query(item(), wait_ms=wait_ms)).only.records == b""


def test_who_wants_no_partition_is_answered_at_once(fake: FakeBroker) -> None:
    assert Fetch(fake, query()).got == []


def test_after_its_time_a_fetch_gets_what_there_is(fake: FakeBroker) -> None:
    fill(fake, 0, batches=1)
    fetch = Fetch(fake, query(item(0), min_bytes=MANY, wait_ms=500))
    fake.scheduler.advance(499)
    assert fetch.waits
    fake.scheduler.advance(1)
    assert fetch.offsets() == [[0]]
    fill(fake, 0, batches=1)
    assert fetch.offsets() == [[0]]


def test_one_append_wakes_all_who_wait_for_it(fake: FakeBroker) -> None:
    fetches = [Fetch(fake, query(item())) for _ in range(3)]
    fill(fake, batches=1)
    assert [fetch.offsets() for fetch in fetches] == [[[0]]] * 3


def test_a_topic_that_is_deleted_ends_the_waiting(fake: FakeBroker) -> None:
    fetch = Fetch(fake, query(item(), min_bytes=MANY))
    topic = fake.existing()
    fake.broker.topics.delete_topics.delete([topic])
    fake.run()
    assert fetch.errors() == [UnknownTopicOrPartition]


def test_a_partition_that_is_not_there_does_not_hurry_the_others(fake: FakeBroker) -> None:
    missing = (item(name="unknown"), item(9), item(name="", topic_id=b"\7" * 16))
    for one in missing:
        assert Fetch(fake, query(one, item(), wait_ms=500)).waits
    assert not Fetch(fake, query(*missing, wait_ms=500)).waits
    fetch = Fetch(fake, query(*missing, item(), wait_ms=500))
    fake.scheduler.advance(500)
    unknown = UnknownTopicOrPartition
    assert fetch.errors() == [unknown, unknown, UnknownTopicId, None]


def test_any_other_error_is_told_at_once(fake: FakeBroker) -> None:
    assert not Fetch(fake, query(item(1, offset=9), item(name="unknown"), item())).waits


def test_an_abandoned_fetch_leaves_nothing_behind(fake: FakeBroker) -> None:
    fetch = Fetch(fake, query(item(), wait_ms=500))
    assert fetch.pending is not None
    assert len(fake.scheduler.timers) == 1
    fetch.pending.abandon()
    assert fake.scheduler.timers == []
    fill(fake, batches=1)
    fake.scheduler.advance(1000)
    assert fetch.waits


def test_waiting_fetches_are_limited() -> None:
    fake = FakeBroker(fetch_waiting_max="2")
    fake.topic("t")
    fetches = [Fetch(fake, query(item())) for _ in range(3)]
    assert [fetch.waits for fetch in fetches] == [True, True, False]
    fill(fake, batches=1)
    fetches = [Fetch(fake, query(item(offset=2))) for _ in range(3)]
    assert [fetch.waits for fetch in fetches] == [True, True, False]


def test_the_partitions_of_all_waiting_fetches_are_limited() -> None:
    fake = FakeBroker(fetch_partitions_max="3")
    fake.topic("t", 3)
    two = [item(0), item(1)]
    fetches = [Fetch(fake, query(*two)), Fetch(fake, query(*two)), Fetch(fake, query(item(2)))]
    assert [fetch.waits for fetch in fetches] == [True, False, True]
    fill(fake, batches=1)
    fetches[2].pending.abandon()
    three = [item(0, 2), item(1), item(2)]
    assert [Fetch(fake, query(*three)).waits for _ in range(2)] == [True, False]


def test_when_the_broker_stops_nobody_waits_any_more(fake: FakeBroker) -> None:
    fetches = [Fetch(fake, query(item(index), item(2))) for index in (0, 1)]
    fake.broker.messages.fetch.release()
    assert [fetch.offsets() for fetch in fetches] == [[[], []], [[], []]]
    assert not Fetch(fake, query(item())).waits
    assert fake.scheduler.timers == []


# ---- items that are kept, as fetch sessions keep them


def test_a_kept_item_notices_that_its_topic_is_another_one(fake: FakeBroker) -> None:
    fill(fake, batches=1)
    kept = item()
    assert Fetch(fake, query(kept)).offsets() == [[0]]
    topic = fake.existing()
    fake.broker.topics.delete_topics.delete([topic])
    fake.run()
    assert Fetch(fake, query(kept)).errors() == [UnknownTopicOrPartition]
    fake.topic("t")
    assert Fetch(fake, query(kept, wait_ms=0)).offsets() == [[]]


def test_a_kept_item_finds_its_partition_when_the_topic_has_grown(fake: FakeBroker) -> None:
    kept = item(3)
    assert Fetch(fake, query(kept)).errors() == [UnknownTopicOrPartition]
    topic = fake.existing()
    fake.broker.catalog.put(topic.grown((77,)))
    assert Fetch(fake, query(kept, wait_ms=0)).errors() == [None]
