from __future__ import annotations

import pytest

from application.state.runtime import ignore
from domain.partitions.transactions import AbortedTransaction
from infrastructure.opening import contents
from interfaces.cli.storage.check_log import check_log
from interfaces.cli.storage.opened import batches, places
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.compaction import compact
from tests.fakes.transactions import append_in_transaction, end_transaction


def problems(fake: FakeBroker) -> list[str]:
    storage = fake.core.storage
    [place] = places(contents(storage))
    return check_log(storage.log, place, contents(storage), lambda size_bytes: None)[1]


def keyed(*keys: str) -> bytearray:
    return record_batch([(key, "v", (), 100) for key in keys])


@pytest.fixture
def fake() -> FakeBroker:
    """Each batch begins a new segment."""
    fake = with_topic(cleanup_policy="compact", segment_bytes="1048576")
    value = "v" * 600_000
    for keys in ("ab", "b", "c", "ca", "d"):
        records = [(key, value if place == 0 else "v", (), 100) for place, key in enumerate(keys)]
        fake.appended(record_batch(records))
    return fake


def test_a_compacted_log_has_no_problem(fake: FakeBroker) -> None:
    segment = fake.partition().segment.base_offset
    assert segment == 6
    compact(fake, segment)
    assert [(b.base_offset, b.count) for b in batches(fake.core.storage.log, 0)] == [
        (2, 1), (4, 2), (6, 1),
    ]  # fmt: skip
    assert problems(fake) == []


def test_offsets_may_be_missing_only_below_the_active_segment(fake: FakeBroker) -> None:
    partition = fake.partition()
    partition.compacted(fake.core.storage.log.replace(0, 6, 6, [], []))
    fake.broker.commits.touch(partition)
    fake.appended(keyed("e"))
    assert problems(fake) == ["offsets 6 to 6 are missing"]


@pytest.fixture
def transactional() -> FakeBroker:
    """Producer 1 aborts at offsets 4 and 10; producer 3 has an open transaction."""
    fake = with_topic()
    for epoch in range(2):
        append_in_transaction(fake, 1, epoch=epoch, keys=[None] * 3)
        append_in_transaction(fake, 2, sequence=epoch)
        end_transaction(fake, 1, committed=False, epoch=epoch + 1)
        end_transaction(fake, 2, committed=True)
    append_in_transaction(fake, 3)
    fake.broker.snapshot_all(ignore)
    fake.run()
    return fake


def test_a_log_with_transactions_has_no_problem(transactional: FakeBroker) -> None:
    assert problems(transactional) == []


def test_the_transaction_index_is_compared_with_the_markers(transactional: FakeBroker) -> None:
    index = transactional.core.transaction_index
    index.remove(0, 4)
    index.add(0, AbortedTransaction(1, 0, 5, 6))
    transactional.broker.commits.touch(transactional.partition())
    transactional.run()
    assert problems(transactional) == [
        "the transaction index has offset 5, where no transaction is aborted",
        "the transaction index lacks the transaction aborted at offset 4",
    ]


def test_open_transactions_are_compared_with_the_snapshot(transactional: FakeBroker) -> None:
    partition = transactional.partition()
    partition.transactions.end(3)
    transactional.core.partitions.snapshot(partition)
    transactional.broker.commits.touch(partition)
    transactional.run()
    assert problems(transactional) == ["the snapshot lacks the open transaction of producer 3"]
