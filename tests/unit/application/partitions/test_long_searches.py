"""Searches by timestamp that take more than a pass of the loop."""

from __future__ import annotations

import pytest

from application.background.runner import SLICE_NS, JobResult
from application.partitions.delete_records import RecordsToDelete
from application.partitions.list_offsets import HEADERS_AT_ONCE, FoundOffset, Search
from domain.cluster.nodes import Leader
from domain.errors import (
    BrokerError,
    NotLeaderOrFollower,
    StorageFailed,
    UnknownTopicOrPartition,
)
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.broker import FakeBroker, FlakyLogStore, with_topic

#: Steps of a search per slice.
STEPS = 4
BATCHES = 3 * STEPS * HEADERS_AT_ONCE


@pytest.fixture
def fake() -> FakeBroker:
    fake = with_topic()
    fake.clock.look_ns = SLICE_NS // STEPS
    return fake


@pytest.fixture
def misleading(fake: FakeBroker) -> FakeBroker:
    """A log whose first batch has a wrong max timestamp, later than the next ones."""
    fake.appended(record_batch(["a"], timestamp=TIMESTAMP, max_timestamp=TIMESTAMP + 10_000))
    for number in range(BATCHES):
        later = record_batch([("k", "v", (), TIMESTAMP + number // 10)])
        assert not isinstance(fake.append(later), BrokerError)
    fake.run()
    fake.appended(record_batch([("k", "v", (), TIMESTAMP + 9000)]))
    return fake


Resolved = list[Exception | None]


def begin(fake: FakeBroker, timestamp: int = TIMESTAMP + 5000) -> tuple[Search, JobResult[None]]:
    """A search that takes more than a pass."""
    service = fake.broker.messages.list_offsets
    search = service.find(fake.partition(), timestamp, False)
    assert isinstance(search, Search)
    pending = service.complete([search])
    assert pending is not None
    return search, pending


def long_search(fake: FakeBroker, timestamp: int = TIMESTAMP + 5000) -> tuple[Search, Resolved]:
    search, pending = begin(fake, timestamp)
    resolved: Resolved = []
    pending.then(resolved.append, resolved.append)
    return search, resolved


def offset_of(search: Search) -> int:
    assert isinstance(search.result, FoundOffset)
    return search.result.offset


@pytest.mark.parametrize("call", ["at_timestamp", "headers", "read"])
def test_a_search_waits_for_pages_that_are_not_in_memory(fake: FakeBroker, call: str) -> None:
    fake.appended(record_batch(["a"], timestamp=TIMESTAMP))
    fake.log.wait_in(call)
    search, _ = begin(fake, TIMESTAMP)
    fake.run()
    assert search.result is None
    fake.log.load()
    fake.run()
    assert offset_of(search) == 0


def test_a_search_that_waits_for_the_index_ends_if_its_topic_is_deleted(fake: FakeBroker) -> None:
    fake.appended(record_batch(["a"], timestamp=TIMESTAMP))
    fake.log.wait_in("at_timestamp")
    search, resolved = long_search(fake, TIMESTAMP)
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.run()
    assert resolved == []
    fake.log.load()
    assert resolved == [None]
    assert isinstance(search.result, UnknownTopicOrPartition)


def test_the_log_start_may_move_while_a_search_waits_for_the_index(fake: FakeBroker) -> None:
    for _ in range(3):
        fake.appended(record_batch(["a"], timestamp=TIMESTAMP))
    fake.log.wait_in("at_timestamp")
    search, _ = begin(fake, TIMESTAMP)
    fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 2)])
    fake.run()
    fake.log.load()
    fake.run()
    assert offset_of(search) == 2


def test_an_unreadable_index_is_an_error_of_its_partition(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> int:
        raise StorageFailed("cannot read")

    fake.appended(record_batch(["a"], timestamp=TIMESTAMP))
    monkeypatch.setattr(FlakyLogStore, "at_timestamp", fails)
    service = fake.broker.messages.list_offsets
    search = service.find(fake.partition(), TIMESTAMP, False)
    assert isinstance(search, Search)
    assert service.complete([search]) is None
    assert isinstance(search.result, StorageFailed)
    assert len(fake.events.of("partition_unreadable")) == 1


def test_a_wrong_max_timestamp_makes_a_search_longer_but_no_pass(
    misleading: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    headers = FlakyLogStore.headers

    def counted(log: FlakyLogStore, partition_id: int, offset: int, limit: int) -> list[bytes]:
        found = headers(log, partition_id, offset, limit)
        read.append(len(found))
        return found

    monkeypatch.setattr(FlakyLogStore, "headers", counted)
    search, resolved = long_search(misleading)
    passes = 0
    while not resolved:
        assert sum(read) <= STEPS * HEADERS_AT_ONCE
        read.clear()
        misleading.scheduler.run_pass()
        passes += 1
    assert passes >= 2
    assert offset_of(search) == BATCHES + 1


def test_many_wrong_max_timestamps_make_no_pass_longer(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each batch has to be found and decompressed, which takes longer than to read its header."""
    false = record_batch(["a"], timestamp=TIMESTAMP, max_timestamp=TIMESTAMP + 10_000)
    for _ in range(60):
        assert not isinstance(fake.append(false), BrokerError)
    fake.run()
    opened = 0
    read = FlakyLogStore.read

    def counted(log: FlakyLogStore, *place: int) -> bytes:
        nonlocal opened
        opened += 1
        return read(log, *place)  # type: ignore[arg-type]

    monkeypatch.setattr(FlakyLogStore, "read", counted)
    search, resolved = long_search(fake)
    in_a_pass = []
    while not resolved:
        in_a_pass.append(opened)
        opened = 0
        fake.scheduler.run_pass()
    assert sum(in_a_pass) + opened == 60
    assert max(in_a_pass) <= STEPS
    assert offset_of(search) == -1


def test_a_fault_fails_its_own_search_only(
    misleading: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = FlakyLogStore.headers
    calls = 0

    def faulty(log: FlakyLogStore, *place: int) -> list[bytes]:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise RuntimeError("a bug")
        return headers(log, *place)

    (_, failed), *others = [long_search(misleading) for _ in range(3)]
    monkeypatch.setattr(FlakyLogStore, "headers", faulty)
    misleading.run()
    assert [str(fault) for fault in failed] == ["a bug"]
    for search, resolved in (*others, long_search(misleading)):
        misleading.run()
        assert resolved == [None] and offset_of(search) == BATCHES + 1


@pytest.mark.parametrize("error", [UnknownTopicOrPartition, NotLeaderOrFollower, StorageFailed])
def test_a_search_ends_with_an_error_if_its_partition_is_gone_or_unreadable(
    misleading: FakeBroker, error: type[BrokerError]
) -> None:
    search, resolved = long_search(misleading)
    if error is UnknownTopicOrPartition:
        misleading.broker.topics.delete_topics.delete([misleading.existing()])
    elif error is NotLeaderOrFollower:
        misleading.placement.move(misleading.existing().partition_ids[0], Leader(2, 1))
    else:
        misleading.log.failing = StorageFailed("cannot read")
    misleading.run()
    assert resolved == [None]
    assert isinstance(search.result, error)
    if isinstance(search.result, NotLeaderOrFollower):
        assert search.result.leader == Leader(2, 1)
    if error is StorageFailed:
        assert search.result.__traceback__ is None, "it would keep all frames alive"


def test_long_searches_take_turns_and_short_ones_do_not_wait(misleading: FakeBroker) -> None:
    searches = [begin(misleading)[0] for _ in range(3)]
    service = misleading.broker.messages.list_offsets
    short = service.find(misleading.partition(), TIMESTAMP, False)
    assert isinstance(short, Search)
    assert service.complete([short]) is None
    assert offset_of(short) == 0
    for _ in range(20):
        misleading.scheduler.run_pass()
        if any(search.result is not None for search in searches):
            break
    misleading.scheduler.run_pass()
    misleading.scheduler.run_pass()
    assert all(search.result is not None for search in searches), "none was served before others"


def test_a_search_ends_when_its_client_disconnects(misleading: FakeBroker) -> None:
    search, pending = begin(misleading)
    pending.abandon()
    misleading.run()
    assert search.result is None
