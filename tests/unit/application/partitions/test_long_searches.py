"""Searches by time that take more than a pass of the loop."""

from __future__ import annotations

import pytest

from application.background.runner import SLICE_NS
from application.partitions.list_offsets import HEADERS_AT_ONCE, FoundOffset, Search
from application.ports.pending import Pending
from domain.cluster.nodes import Leader
from domain.errors import (
    BrokerError,
    NotLeaderOrFollower,
    StorageFailed,
    UnknownTopicOrPartition,
)
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.broker import FakeBroker, FlakyLogStore

#: So many steps of a search are a slice.
STEPS = 4
BATCHES = 3 * STEPS * HEADERS_AT_ONCE


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t")
    fake.clock.look_ns = SLICE_NS // STEPS
    return fake


@pytest.fixture
def lied_to(fake: FakeBroker) -> FakeBroker:
    """A log whose first batch claims to be from later than all that follow."""
    fake.appended(record_batch(["a"], timestamp=TIMESTAMP, max_timestamp=TIMESTAMP + 10_000))
    for number in range(BATCHES):
        later = record_batch([("k", "v", (), TIMESTAMP + number // 10)])
        assert not isinstance(fake.append(later), BrokerError)
    fake.run()
    fake.appended(record_batch([("k", "v", (), TIMESTAMP + 9000)]))
    return fake


def test_a_search_waits_for_what_is_not_in_memory(fake: FakeBroker) -> None:
    fake.appended(record_batch(["a"], timestamp=TIMESTAMP))
    fake.log.loading = Pending()
    service = fake.broker.messages.list_offsets
    search = service.find(fake.partition(), TIMESTAMP, False)
    assert isinstance(search, Search)
    pending = service.complete([search])
    assert pending is not None
    fake.run()
    assert search.result is None
    fake.log.load()
    fake.run()
    assert isinstance(search.result, FoundOffset) and search.result.offset == 0


def test_a_false_header_makes_a_search_long_but_no_pass(
    lied_to: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    headers = FlakyLogStore.headers

    def counted(log: FlakyLogStore, partition_id: int, offset: int, limit: int) -> list[bytes]:
        found = headers(log, partition_id, offset, limit)
        read.append(len(found))
        return found

    monkeypatch.setattr(FlakyLogStore, "headers", counted)
    service = lied_to.broker.messages.list_offsets
    search = service.find(lied_to.partition(), TIMESTAMP + 5000, False)
    assert isinstance(search, Search)
    pending = service.complete([search])
    assert pending is not None
    resolved: list[Exception | None] = []
    pending.then(resolved.append, resolved.append)
    passes = 0
    while not resolved:
        assert sum(read) <= STEPS * HEADERS_AT_ONCE
        read.clear()
        lied_to.scheduler.run_pass()
        passes += 1
    assert passes >= 2
    assert isinstance(search.result, FoundOffset)
    assert search.result.offset == BATCHES + 1


def test_a_log_of_false_headers_makes_no_pass_longer(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has to be looked for and opened, which is a longer look than that at its header."""
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
    assert isinstance(search.result, FoundOffset)
    assert search.result.offset == -1


def long_search(fake: FakeBroker) -> tuple[Search, list[Exception | None]]:
    """One that takes more than a pass, and what its request is resolved with."""
    service = fake.broker.messages.list_offsets
    search = service.find(fake.partition(), TIMESTAMP + 5000, False)
    assert isinstance(search, Search)
    pending = service.complete([search])
    assert pending is not None
    resolved: list[Exception | None] = []
    pending.then(resolved.append, resolved.append)
    return search, resolved


def test_a_fault_in_a_search_is_its_own_requests_and_the_others_go_on(
    lied_to: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = FlakyLogStore.headers
    calls = 0

    def faulty(log: FlakyLogStore, *place: int) -> list[bytes]:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise RuntimeError("nobody foresaw this")
        return headers(log, *place)

    (_, told), *others = [long_search(lied_to) for _ in range(3)]
    monkeypatch.setattr(FlakyLogStore, "headers", faulty)
    lied_to.run()
    assert [str(fault) for fault in told] == ["nobody foresaw this"]
    for search, resolved in (*others, long_search(lied_to)):
        lied_to.run()
        assert resolved == [None]
        assert isinstance(search.result, FoundOffset)


def test_a_fault_in_the_only_search_lets_the_next_one_begin(
    lied_to: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> list[bytes]:
        raise RuntimeError("nobody foresaw this")

    _, told = long_search(lied_to)
    with monkeypatch.context() as patch:
        patch.setattr(FlakyLogStore, "headers", fails)
        lied_to.run()
    assert isinstance(told[0], RuntimeError)
    search, resolved = long_search(lied_to)
    lied_to.run()
    assert resolved == [None]
    assert isinstance(search.result, FoundOffset)


def test_a_search_in_a_partition_that_is_deleted_meanwhile_says_so(lied_to: FakeBroker) -> None:
    search, resolved = long_search(lied_to)
    lied_to.broker.topics.delete_topics.delete([lied_to.existing()])
    lied_to.run()
    assert resolved == [None]
    assert isinstance(search.result, UnknownTopicOrPartition)


def test_a_search_in_a_partition_that_moves_meanwhile_names_its_leader(
    lied_to: FakeBroker,
) -> None:
    search, resolved = long_search(lied_to)
    lied_to.placement.move(lied_to.existing().partition_ids[0], Leader(2, 1))
    lied_to.run()
    assert resolved == [None]
    assert isinstance(search.result, NotLeaderOrFollower)
    assert search.result.leader == Leader(2, 1)


def test_long_searches_take_turns_and_short_ones_do_not_wait(lied_to: FakeBroker) -> None:
    service = lied_to.broker.messages.list_offsets
    searches = []
    for _ in range(3):
        search = service.find(lied_to.partition(), TIMESTAMP + 5000, False)
        assert isinstance(search, Search)
        assert service.complete([search]) is not None
        searches.append(search)
    assert find_now(lied_to, TIMESTAMP) == 0
    for _ in range(20):
        lied_to.scheduler.run_pass()
        done = [search.result is not None for search in searches]
        if any(done):
            break
    lied_to.scheduler.run_pass()
    lied_to.scheduler.run_pass()
    assert all(search.result is not None for search in searches), "none was served before others"


def find_now(fake: FakeBroker, timestamp: int) -> int:
    service = fake.broker.messages.list_offsets
    search = service.find(fake.partition(), timestamp, False)
    assert isinstance(search, Search)
    assert service.complete([search]) is None
    assert isinstance(search.result, FoundOffset)
    return search.result.offset


def test_a_search_whose_client_has_gone_ends(lied_to: FakeBroker) -> None:
    service = lied_to.broker.messages.list_offsets
    search = service.find(lied_to.partition(), TIMESTAMP + 5000, False)
    assert isinstance(search, Search)
    pending = service.complete([search])
    assert pending is not None
    pending.abandon()
    lied_to.run()
    assert search.result is None


def test_a_search_that_meets_an_unreadable_disk_says_so(lied_to: FakeBroker) -> None:
    service = lied_to.broker.messages.list_offsets
    search = service.find(lied_to.partition(), TIMESTAMP + 5000, False)
    assert isinstance(search, Search)
    assert service.complete([search]) is not None
    lied_to.log.failing = StorageFailed("cannot read")
    lied_to.run()
    assert isinstance(search.result, StorageFailed)
    assert search.result.__traceback__ is None, "it is kept, and would hold all on its way"
