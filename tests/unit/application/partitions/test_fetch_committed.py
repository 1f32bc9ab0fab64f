"""Fetches and offsets of READ_COMMITTED consumers."""

from __future__ import annotations

import pytest

from application.partitions.fetch_query import FetchedPartition, FetchItem, FetchQuery
from application.partitions.list_offsets import LATEST, MAX_TIMESTAMP, FoundOffset, Search
from application.partitions.pending_fetch import PendingFetch
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.stored import batches_of
from tests.fakes.transactions import append_in_transaction, end_transaction

FIRST, SECOND = 1, 2


class Fetch:
    def __init__(
        self, fake: FakeBroker, offset: int = 0, min_bytes: int = 1, wait_ms: int = 500
    ) -> None:
        self.got: FetchedPartition | None = None
        self.reads = 0
        items = [FetchItem("t", bytes(16), 0, offset, 1 << 20, -1)]
        service = fake.broker.messages.fetch
        read = service.read

        def counted(*arguments: object) -> object:
            self.reads += 1
            return read(*arguments)  # type: ignore[arg-type]

        service.read = counted  # type: ignore[assignment]
        fetched = service.fetch(FetchQuery(items, wait_ms, min_bytes, 1 << 20, True))
        if isinstance(fetched, PendingFetch):
            fetched.then(self._take)
        else:
            self._take(fetched)

    def _take(self, got: list[FetchedPartition]) -> None:
        [self.got] = got

    @property
    def offsets(self) -> list[int]:
        assert self.got is not None
        return [batch.base_offset for batch in batches_of(self.got.records)]

    @property
    def aborted(self) -> list[tuple[int, int]]:
        assert self.got is not None
        return [one[:2] for one in self.got.aborted]


def test_records_of_open_transactions_and_those_behind_them_are_not_returned() -> None:
    fake = with_topic()
    fake.append(record_batch(["plain"]))
    append_in_transaction(fake, FIRST)
    fake.append(record_batch(["plain"]))
    fake.run()
    fetch = Fetch(fake)
    assert fetch.got is not None
    assert fetch.offsets == [0]
    assert (fetch.got.last_stable_offset, fetch.got.high_watermark) == (1, 3)
    end_transaction(fake, FIRST, committed=True)
    fake.run()
    assert Fetch(fake).offsets == [0, 1, 2, 3]


def test_aborted_transactions_of_the_returned_records_are_listed() -> None:
    fake = with_topic()
    append_in_transaction(fake, FIRST)  # 0
    append_in_transaction(fake, SECOND)  # 1
    end_transaction(fake, SECOND, committed=False)  # 2
    append_in_transaction(fake, FIRST, sequence=1)  # 3
    end_transaction(fake, FIRST, committed=False)  # 4
    append_in_transaction(fake, SECOND, sequence=1)  # 5
    end_transaction(fake, SECOND, committed=True)  # 6
    fake.run()
    assert Fetch(fake).aborted == [(SECOND, 1), (FIRST, 0)]
    assert Fetch(fake, 2).aborted == [(SECOND, 1), (FIRST, 0)]
    assert Fetch(fake, 3).aborted == [(FIRST, 0)]
    assert Fetch(fake, 5).aborted == []
    assert Fetch(fake.restarted(), 4).aborted == [(FIRST, 0)]


def test_a_waiting_fetch_is_not_repeated_below_an_open_transaction() -> None:
    fake = with_topic()
    append_in_transaction(fake, FIRST)
    fake.run()
    fetch = Fetch(fake)
    for _ in range(3):
        fake.appended(record_batch(["plain"]))
    assert (fetch.got, fetch.reads) == (None, 1)
    append_in_transaction(fake, SECOND)
    end_transaction(fake, FIRST, committed=True)
    fake.run()
    assert fetch.offsets == [0, 1, 2, 3]
    assert fetch.reads == 2


def test_a_waiting_fetch_counts_the_bytes_below_the_last_stable_offset() -> None:
    fake = with_topic()
    append_in_transaction(fake, FIRST)
    fake.run()
    fetch = Fetch(fake, min_bytes=200)
    end_transaction(fake, FIRST, committed=True)  # 69 and 78 bytes
    fake.run()
    assert fetch.got is None
    fake.appended(record_batch(["x" * 60]))
    assert fetch.offsets == [0, 1, 2]


def test_a_fetch_at_an_open_transaction_gets_an_empty_response_in_time() -> None:
    fake = with_topic()
    append_in_transaction(fake, FIRST)
    fake.run()
    fetch = Fetch(fake)
    fake.scheduler.advance(500)
    assert fetch.offsets == []


def found(fake: FakeBroker, timestamp: int, read_committed: bool) -> int:
    service = fake.broker.messages.list_offsets
    result = service.find(fake.partition(), timestamp, read_committed)
    if isinstance(result, Search):
        service.complete([result])
        fake.run()
        assert isinstance(result.result, FoundOffset)
        return result.result.offset
    return result.offset


@pytest.mark.parametrize(
    ("timestamp", "committed", "uncommitted"), [(LATEST, 1, 2), (MAX_TIMESTAMP, -1, 1), (5, -1, 1)]
)
def test_offsets_of_an_open_transaction_are_found_by_read_uncommitted_only(
    timestamp: int, committed: int, uncommitted: int
) -> None:
    fake = with_topic()
    now_ms = fake.clock.now_ms()
    fake.append(record_batch(["plain"], timestamp=now_ms - 1))
    append_in_transaction(fake, FIRST)
    fake.run()
    if timestamp == 5:
        timestamp = now_ms
    assert found(fake, timestamp, read_committed=True) == committed
    assert found(fake, timestamp, read_committed=False) == uncommitted
