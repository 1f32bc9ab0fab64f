from __future__ import annotations

from collections.abc import Iterator

import pytest

from domain.compaction.log_to_clean import Uncleanable, log_to_clean
from domain.errors import StorageFailed
from domain.partitions.transactions import AbortedTransaction
from infrastructure.storage.repositories.transaction_index import StoredTransactionIndex
from tests.fakes.broker import FakeBroker
from tests.fakes.transactions import aborted, append_in_transaction, end_transaction
from tests.unit.application.partitions.test_compaction import (
    BACKOFF_MS,
    append,
    compact,
    compacting,
    records,
)

PRODUCER = 7


def transactional(fake: FakeBroker, key: str, sequence: int) -> None:
    fake.scheduler.advance(10)
    append_in_transaction(fake, PRODUCER, sequence, keys=[key.encode()])
    fake.run()


def test_a_log_is_compacted_below_its_open_transactions() -> None:
    fake = compacting()
    append(fake, *"aab")
    transactional(fake, "a", 0)
    append(fake, *"ab")
    compact(fake)
    assert [offset for offset, _ in records(fake)] == [1, 2, 3, 4, 5]
    found = log_to_clean(fake.partition())
    assert (found.first_uncleanable_offset, found.uncleanable) == (3, Uncleanable.OPEN_TRANSACTION)
    assert found.cleanable_bytes == 0


def test_an_entry_of_the_index_goes_with_its_marker() -> None:
    fake = compacting(delete_retention_ms="60000", min_cleanable_dirty_ratio="0.1")
    transactional(fake, "a", 0)
    transactional(fake, "b", 1)
    end_transaction(fake, PRODUCER, committed=False, epoch=1)
    append(fake, *"aab")
    compact(fake)
    assert records(fake)[0][0] == 2  # the marker
    assert aborted(fake) == [(PRODUCER, 0, 2, 3)]
    append(fake, *"aab")
    compact(fake)
    assert records(fake)[0][0] == 2  # it has a delete horizon now
    fake.scheduler.advance(60_000)
    append(fake, *"aab")
    compact(fake)
    assert aborted(fake) == []
    assert fake.partition().last_stable_offset == fake.partition().high_watermark


def test_an_unreadable_index_leaves_the_log_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = compacting(delete_retention_ms="0", min_cleanable_dirty_ratio="0.1")
    transactional(fake, "a", 0)
    end_transaction(fake, PRODUCER, committed=False, epoch=1)
    append(fake, *"ab")
    compact(fake)  # the marker has a delete horizon now
    append(fake, *"ab")
    since = StoredTransactionIndex.since
    reads = []

    def fails(self: StoredTransactionIndex, *place: int) -> Iterator[AbortedTransaction]:
        yield from since(self, *place)
        reads.append(place)
        if len(reads) == 2:  # of the pass that has begun, when the entry was found
            raise StorageFailed("cannot read")

    before, partition = fake.stored(), fake.partition()
    with monkeypatch.context() as patch:
        patch.setattr(StoredTransactionIndex, "since", fails)
        fake.scheduler.advance(BACKOFF_MS)
    assert len(reads) == 2
    assert (fake.stored(), len(aborted(fake))) == (before, 1)
    append(fake, *"ab")
    assert (len(aborted(fake)), len(fake.stored())) == (1, partition.durable.size_bytes)


def test_retention_removes_records_of_open_transactions() -> None:
    fake = FakeBroker(log_retention_check_interval_ms="100")
    fake.topic("t", retention_ms="1000", segment_ms="1")
    fake.broker.start_upkeep()
    transactional(fake, "a", 0)
    fake.scheduler.advance(900)
    append(fake, "b")
    fake.scheduler.advance(800)
    partition = fake.partition()
    assert (partition.log_start_offset, partition.last_stable_offset) == (1, 1)
    end_transaction(fake, PRODUCER, committed=True)
    fake.run()
    assert partition.last_stable_offset == partition.high_watermark == 3
