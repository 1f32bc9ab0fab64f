from __future__ import annotations

from application.state.runtime import ignore
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.results import results_of
from tests.fakes.transactions import append_in_transaction, end_transaction


def described(fake: FakeBroker) -> list[tuple[int, ...]]:
    """Producer id, epoch, last sequence, coordinator epoch, first offset of the transaction."""
    pending = fake.broker.messages.describe_producers.describe([("t", 0)])
    fake.run()
    [[producers]] = results_of(pending)
    assert isinstance(producers, list)
    return [(*one[:3], *one[4:]) for one in producers]


def test_producers_in_memory_and_in_snapshots_are_described() -> None:
    fake = with_topic()
    fake.append(record_batch(["a", "b"], producer_id=3, epoch=1, sequence=0))
    append_in_transaction(fake, 2, keys=[None] * 3)
    append_in_transaction(fake, 1)
    end_transaction(fake, 1, committed=True, epoch=1)
    expected = [(1, 1, -1, 0, -1), (2, 0, 2, -1, 2), (3, 1, 1, -1, -1)]
    fake.run()
    assert described(fake) == expected
    fake.broker.snapshot_all(ignore)
    fake.run()
    again = fake.restarted()
    append_in_transaction(again, 1, epoch=1)
    again.run()
    assert described(again) == [(1, 1, 0, 0, 7), *expected[1:]]


def test_expired_producers_are_not_described() -> None:
    fake = with_topic()
    fake.append(record_batch(["a"], producer_id=3, epoch=1, sequence=0))
    fake.broker.snapshot_all(ignore)
    fake.run()
    fake.partition().producers.expire(fake.clock.now_ms() + 1)
    assert described(fake) == []
