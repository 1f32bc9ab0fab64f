from __future__ import annotations

import pytest

from application.partitions.fetch_query import FetchedPartition, FetchItem, FetchQuery
from application.partitions.pending_fetch import PendingFetch
from application.ports.pending import Pending
from domain.errors import (
    BrokerError,
    OffsetOutOfRange,
    StorageFailed,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.stored import batches_of

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
    """A fetch, and its result when it has one."""

    def __init__(self, fake: FakeBroker, request: FetchQuery) -> None:
        self.got: list[FetchedPartition] | None = None
        fetched = fake.broker.messages.fetch.fetch(request)
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
        """The base offsets of the batches of each partition."""
        assert self.got is not None
        return [[batch.base_offset for batch in batches_of(one.records)] for one in self.got]


@pytest.fixture
def fake() -> FakeBroker:
    return with_topic(3)


def fill(fake: FakeBroker, index: int = 0, batches: int = 3, name: str = "t") -> int:
    """Batches of two records each; returns the size of one."""
    batch = record_batch(["x" * 100, "y" * 100])
    for _ in range(batches):
        fake.appended(batch, name, index)
    return len(batch)


def test_only_durable_records_are_returned(fake: FakeBroker) -> None:
    fake.commit.hold()
    fake.append(record_batch(["a"]))
    fake.run()
    fetch = Fetch(fake, query(item(), wait_ms=0))
    assert (fetch.only.records, fetch.only.high_watermark) == (b"", 0)
    fake.commit.let_go()
    assert Fetch(fake, query(item())).offsets() == [[0]]


def test_the_broker_limits_each_fetch() -> None:
    fake = FakeBroker(fetch_max_bytes="1024")
    fake.topic("t")
    size = fill(fake, batches=6)
    assert len(Fetch(fake, query(item())).only.records) == 1024 // size * size


# ---- waiting


def test_a_fetch_waits_for_the_first_batch(fake: FakeBroker) -> None:
    fetch = Fetch(fake, query(item(0), item(1)))
    assert fetch.waits
    fill(fake, 2, batches=1)
    assert fetch.waits, "another partition"
    fill(fake, 1, batches=1)
    assert fetch.offsets() == [[], [0]]
    assert fake.scheduler.timers == []


def test_a_fetch_waits_for_its_minimum_of_all_partitions(fake: FakeBroker) -> None:
    size = fill(fake, 0, batches=1)
    fetch = Fetch(fake, query(item(0), item(1), min_bytes=3 * size))
    assert fetch.waits
    fill(fake, 1, batches=1)
    assert fetch.waits
    fill(fake, 0, batches=1)
    assert fetch.offsets() == [[0, 2], [0]]
    assert Fetch(fake, query(item(0), item(1), min_bytes=3 * size + 1)).waits


def test_a_fetch_that_reached_a_limit_does_not_wait(fake: FakeBroker) -> None:
    size = fill(fake)
    assert Fetch(fake, query(item(max_bytes=2 * size), min_bytes=MANY)).offsets() == [[0, 2]]
    assert Fetch(fake, query(item(max_bytes=3 * size), min_bytes=MANY)).waits


@pytest.mark.parametrize(
    "limits", [{"min_bytes": 0}, {"min_bytes": -1}, {"wait_ms": 0}, {"wait_ms": -1}]
)
def test_a_fetch_without_minimum_or_time_does_not_wait(
    fake: FakeBroker, limits: dict[str, int]
) -> None:
    assert Fetch(fake, query(item(), **limits)).only.records == b""
    assert Fetch(fake, query()).got == []


def test_a_fetch_ends_after_its_time_with_the_available_records(fake: FakeBroker) -> None:
    fill(fake, 0, batches=1)
    fetch = Fetch(fake, query(item(0), min_bytes=MANY, wait_ms=500))
    fake.scheduler.advance(499)
    assert fetch.waits
    fake.scheduler.advance(1)
    assert fetch.offsets() == [[0]]
    fill(fake, 0, batches=1)
    assert fetch.offsets() == [[0]]


def test_a_deleted_topic_ends_the_wait(fake: FakeBroker) -> None:
    fetch = Fetch(fake, query(item(), min_bytes=MANY))
    topic = fake.existing()
    fake.broker.topics.delete_topics.delete([topic])
    fake.run()
    assert fetch.errors() == [UnknownTopicOrPartition]


def test_an_unknown_partition_beside_others_does_not_end_the_wait(fake: FakeBroker) -> None:
    missing = (item(name="unknown"), item(9), item(name="", topic_id=b"\7" * 16))
    for one in missing:
        assert Fetch(fake, query(one, item(), wait_ms=500)).waits
    assert not Fetch(fake, query(*missing, wait_ms=500)).waits
    fetch = Fetch(fake, query(*missing, item(), wait_ms=500))
    fake.scheduler.advance(500)
    unknown = UnknownTopicOrPartition
    assert fetch.errors() == [unknown, unknown, UnknownTopicId, None]


def test_any_other_error_ends_the_wait(fake: FakeBroker) -> None:
    assert not Fetch(fake, query(item(1, offset=9), item(name="unknown"), item())).waits


def test_an_abandoned_fetch_leaves_no_timer(fake: FakeBroker) -> None:
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


def test_no_fetch_waits_when_the_broker_stops(fake: FakeBroker) -> None:
    fetches = [Fetch(fake, query(item(index), item(2))) for index in (0, 1)]
    fake.broker.messages.fetch.release()
    assert [fetch.offsets() for fetch in fetches] == [[[], []], [[], []]]
    assert not Fetch(fake, query(item())).waits
    assert fake.scheduler.timers == []


def test_an_item_of_a_session_notices_a_topic_that_is_created_again(fake: FakeBroker) -> None:
    fill(fake, batches=1)
    one = item()
    assert Fetch(fake, query(one)).offsets() == [[0]]
    topic = fake.existing()
    fake.broker.topics.delete_topics.delete([topic])
    fake.run()
    assert Fetch(fake, query(one)).errors() == [UnknownTopicOrPartition]
    fake.topic("t")
    assert Fetch(fake, query(one, wait_ms=0)).offsets() == [[]]


def test_an_item_of_a_session_finds_a_partition_that_is_added(fake: FakeBroker) -> None:
    one = item(3)
    assert Fetch(fake, query(one)).errors() == [UnknownTopicOrPartition]
    topic = fake.existing()
    fake.broker.catalog.put(topic.grown((77,)))
    assert Fetch(fake, query(one, wait_ms=0)).errors() == [None]


# ---- records that are not in memory


@pytest.fixture
def cold(fake: FakeBroker) -> FakeBroker:
    fill(fake, 0)
    fake.log.loading = Pending()
    return fake


@pytest.mark.parametrize("wait_ms", [0, 500])
def test_a_fetch_waits_for_records_that_are_not_in_memory(cold: FakeBroker, wait_ms: int) -> None:
    fetch = Fetch(cold, query(item(0), wait_ms=wait_ms))
    cold.scheduler.advance(1000)
    assert fetch.waits
    cold.log.load()
    assert fetch.offsets() == [[0, 2, 4]]
    assert cold.scheduler.timers == []


def test_pages_that_are_evicted_are_loaded_again(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0)))
    first, cold.log.loading = cold.log.loading, Pending()
    assert first is not None
    first.resolve(None)
    assert fetch.waits
    cold.log.load()
    assert fetch.offsets() == [[0, 2, 4]]


def test_a_fetch_ends_after_its_time_with_the_records_in_memory(fake: FakeBroker) -> None:
    fill(fake, 0)
    fill(fake, 1)
    fake.log.loading, fake.log.loading_of = Pending(), fake.partition("t", 1).partition_id
    fetch = Fetch(fake, query(item(0), item(1), wait_ms=500))
    assert fetch.waits
    fake.scheduler.advance(500)
    assert fetch.offsets() == [[0, 2, 4], []]
    assert fetch.got is not None and fetch.got[1].high_watermark == 6
    fake.log.load()


@pytest.mark.parametrize("fails", [False, True])
def test_after_its_time_a_fetch_waits_for_the_first_of_its_partitions(
    fake: FakeBroker, fails: bool
) -> None:
    """Others may be read much later, as from a bucket that is away."""
    fill(fake, 0)
    one, other = fake.partition("t", 0), fake.partition("t", 1)
    fake.log.loading, fake.log.loading_of = Pending(), one.partition_id
    fetch = Fetch(fake, query(item(0), item(1), wait_ms=100))
    fake.scheduler.advance(5000)
    assert fetch.waits
    fake.log.loading_of = other.partition_id  # of the fetch, not all is loaded
    fake.log.failing = StorageFailed("no bucket") if fails else None
    fake.scheduler.advance(500)
    assert fetch.errors() == [StorageFailed if fails else None, None]
    assert fetch.offsets() == [[] if fails else [0, 2, 4], []]
    assert fake.scheduler.timers == []


def test_a_topic_can_be_deleted_while_it_is_loaded(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0)))
    cold.broker.topics.delete_topics.delete([cold.existing()])
    cold.run()
    cold.log.load()
    assert fetch.errors() == [UnknownTopicOrPartition]


def test_an_abandoned_fetch_that_loads_leaves_no_timer(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0)))
    assert fetch.pending is not None
    fetch.pending.abandon()
    assert cold.scheduler.timers == []
    cold.log.load()
    assert fetch.waits


def test_a_stopping_broker_does_not_load(cold: FakeBroker) -> None:
    cold.broker.messages.fetch.release()
    assert Fetch(cold, query(item(0))).offsets() == [[]]
    assert Fetch(cold, query(item(1, offset=99))).errors() == [OffsetOutOfRange]


def test_the_time_of_a_fetch_includes_loading(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0), wait_ms=500, min_bytes=1 << 20))
    cold.scheduler.advance(300)
    cold.log.load()
    assert fetch.waits
    cold.scheduler.advance(200)
    assert fetch.offsets() == [[0, 2, 4]]


def test_an_error_ends_the_wait_for_another_partition(cold: FakeBroker) -> None:
    cold.log.loading_of = cold.partition("t", 0).partition_id
    fetch = Fetch(cold, query(item(0), item(1, offset=99)))
    assert fetch.errors() == [None, OffsetOutOfRange]


def test_the_first_fetch_of_a_partition_waits_for_its_log(fake: FakeBroker) -> None:
    fill(fake, 0)
    fake.log.loading, fake.log.loading_of = Pending(), fake.existing().partition_ids[1]
    fetch = Fetch(fake, query(item(0), item(1, offset=99), wait_ms=500))
    fake.scheduler.advance(500)
    assert fetch.waits, "where its log begins and ends is not known"
    fake.log.load()
    assert fetch.errors() == [None, OffsetOutOfRange]


def test_a_broken_partition_is_read_again_at_once(cold: FakeBroker) -> None:
    partition = cold.partition("t", 0)
    partition.broken = StorageFailed("the disk is full")
    fetch = Fetch(cold, query(item(0)))
    assert partition.broken is None and partition.high_watermark == 6
    cold.log.load()
    assert fetch.offsets() == [[0, 2, 4]]
