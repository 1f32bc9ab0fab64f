from __future__ import annotations

import pytest

from application.background.runner import LONGEST_RETRY_MS
from application.state.runtime import ignore
from domain.errors import InvalidProducerEpoch, StorageFailed
from domain.messages.batch import batches_in
from domain.messages.control import read_end_marker
from infrastructure.storage.memory.state_store import MemoryStateStore
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.transactions import aborted, append_in_transaction, end_transaction

FIRST, SECOND = 1, 2


def markers(fake: FakeBroker) -> list[tuple[int, bool]]:
    found = map(read_end_marker, batches_in(fake.stored()))
    return [(one.producer_id, one.committed) for one in found if one is not None]


def test_aborted_transactions_are_in_the_index() -> None:
    fake = with_topic()
    append_in_transaction(fake, FIRST)
    append_in_transaction(fake, SECOND)
    append_in_transaction(fake, FIRST, sequence=1)
    end_transaction(fake, SECOND, committed=False)
    end_transaction(fake, FIRST, committed=False)
    append_in_transaction(fake, FIRST, sequence=2)
    end_transaction(fake, FIRST, committed=True)
    assert aborted(fake) == []
    fake.run()
    assert markers(fake) == [(SECOND, False), (FIRST, False), (FIRST, True)]
    # While the first one is open, the last stable offset is its first offset.
    assert aborted(fake) == [(SECOND, 1, 3, 0), (FIRST, 0, 4, 5)]
    assert fake.partition().transactions.last_aborted_offset == 4


def test_a_marker_is_written_also_without_an_open_transaction() -> None:
    fake = with_topic()
    append_in_transaction(fake, FIRST)
    end_transaction(fake, FIRST, committed=True)
    end_transaction(fake, FIRST, committed=False)
    fake.run()
    assert markers(fake) == [(FIRST, True), (FIRST, False)]
    assert aborted(fake) == []


def test_a_marker_without_records_before_it_fences_older_epochs() -> None:
    fake = with_topic()
    end_transaction(fake, FIRST, committed=False, epoch=1)
    fake.run()
    with pytest.raises(InvalidProducerEpoch):
        append_in_transaction(fake, FIRST, epoch=0)
    assert aborted(fake) == []  # nothing was aborted


def test_a_marker_in_a_failed_commit_is_written_again() -> None:
    fake = with_topic()
    append_in_transaction(fake, FIRST)
    fake.run()
    end_transaction(fake, FIRST, committed=False)
    fake.commit.fail_next()
    fake.run()
    assert fake.partition().last_stable_offset == 0
    end_transaction(fake, FIRST, committed=False)
    fake.run()
    assert aborted(fake) == [(FIRST, 0, 1, 2)]
    assert fake.partition().last_stable_offset == 2


def with_aborted(transactions: int) -> FakeBroker:
    fake = with_topic()
    for number in range(transactions):
        append_in_transaction(fake, FIRST, sequence=number)
        end_transaction(fake, FIRST, committed=False)
    fake.run()
    return fake


def test_the_index_is_trimmed_with_the_log() -> None:
    fake = with_aborted(300)
    partition = fake.partition()
    partition.move_log_start(599)
    fake.broker.trimming.stage(partition)
    fake.broker.commits.touch(partition)
    fake.run()
    fake.broker.trimming.begin([partition])
    fake.scheduler.advance(1000)
    assert aborted(fake) == [(FIRST, 598, 599, 600)]
    assert fake.core.partitions.trimming() == []


def test_an_unreadable_index_does_not_end_the_trimming(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> list[tuple[bytes, bytes]]:
        raise StorageFailed("cannot read")

    fake = with_aborted(3)
    partition = fake.partition()
    partition.move_log_start(5)
    fake.broker.trimming.stage(partition)
    fake.broker.commits.touch(partition)
    fake.run()
    fake.broker.trimming.begin([partition])
    with monkeypatch.context() as patch:
        patch.setattr(MemoryStateStore, "scan", fails)
        fake.scheduler.advance(100)
    assert (len(aborted(fake)), len(fake.stored())) == (3, partition.durable.size_bytes)
    fake.scheduler.advance(LONGEST_RETRY_MS)
    assert (len(aborted(fake)), len(fake.stored())) == (1, partition.durable.size_bytes)
    assert fake.core.partitions.trimming() == []


def test_the_index_of_a_deleted_topic_is_removed() -> None:
    fake = with_aborted(3)
    partition = fake.partition()
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.scheduler.advance(1000)
    assert len(fake.broker.dropping) == 0
    assert aborted(fake, partition) == []


def test_an_entry_of_the_index_that_is_in_flight_goes_with_its_topic() -> None:
    fake = with_topic()
    append_in_transaction(fake, FIRST)
    fake.run()
    partition = fake.partition()
    fake.commit.hold()
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.run()
    end_transaction(fake, FIRST, committed=False)  # in the next commit
    fake.commit.let_go()
    fake.commit.hold()
    fake.run()
    fake.scheduler.advance(100)
    fake.commit.let_go()
    fake.scheduler.advance(1000)
    assert len(fake.broker.dropping) == 0
    assert aborted(fake, partition) == []


def test_the_index_is_found_after_a_restart() -> None:
    fake = with_aborted(2)
    append_in_transaction(fake, SECOND)
    fake.broker.snapshot_all(ignore)
    fake.run()
    again = fake.restarted()
    assert again.partition().transactions.last_aborted_offset == 3
    assert (again.partition().last_stable_offset, again.partition().high_watermark) == (4, 5)


def test_the_producer_of_an_open_transaction_does_not_expire() -> None:
    fake = FakeBroker(
        producer_id_expiration_ms="1000", producer_id_expiration_check_interval_ms="100"
    )
    fake.topic("t")
    append_in_transaction(fake, FIRST)
    append_in_transaction(fake, SECOND)
    end_transaction(fake, SECOND, committed=True)
    fake.broker.snapshot_all(ignore)
    fake.run()
    fake.broker.producer_expiry.start()
    fake.scheduler.advance(1_200)
    assert FIRST in fake.partition().producers
    assert SECOND not in fake.partition().producers
    again = fake.restarted().partition().producers
    assert again.find(FIRST) is not None
    assert again.find(SECOND) is None
