from __future__ import annotations

import pytest

from domain.errors import InvalidProducerEpoch, OutOfOrderSequence
from domain.messages.batch import MAX_SEQUENCE, RecordBatch
from domain.partitions.producers import AppendedBatch, Producers
from tests.fakes.batches import TIMESTAMP, record_batch


def batch(
    sequence: int, count: int = 1, *, producer: int = 7, epoch: int = 0, at: int = 0
) -> RecordBatch:
    data = record_batch(
        ["x"] * count, producer_id=producer, epoch=epoch, sequence=sequence, base_offset=at
    )
    return RecordBatch(memoryview(data))


class Log:
    """Appends to Producers as a partition does."""

    def __init__(self) -> None:
        self.producers = Producers()
        self.next_offset = 0

    def append(
        self, sequence: int, count: int = 1, producer: int = 7, epoch: int = 0
    ) -> AppendedBatch | None:
        one = batch(sequence, count, producer=producer, epoch=epoch, at=self.next_offset)
        duplicate = self.producers.find_duplicate(one)
        if duplicate is None:
            self.producers.record(one)
            self.next_offset += count
        return duplicate


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.mark.parametrize("sequence", [0, 1, 1000, MAX_SEQUENCE])
def test_an_unknown_producer_may_begin_at_any_sequence(log: Log, sequence: int) -> None:
    assert log.append(sequence, epoch=4) is None
    assert len(log.producers) == 1


def test_the_next_sequence_is_accepted(log: Log) -> None:
    assert log.append(0, 3) is None
    assert log.append(3, 2) is None
    assert log.append(5) is None


@pytest.mark.parametrize("sequence", [4, 6, 100])
def test_a_gap_is_refused(log: Log, sequence: int) -> None:
    log.append(0, 3)
    with pytest.raises(OutOfOrderSequence, match=r"3 \(expected\)"):
        log.append(sequence)


def test_a_retry_is_found_at_its_first_place(log: Log) -> None:
    log.append(0, 3)
    log.append(3, 2)
    duplicate = log.append(3, 2)
    assert duplicate is not None
    assert (duplicate.base_offset, duplicate.last_offset) == (3, 4)
    assert duplicate.timestamp == TIMESTAMP


def test_the_last_five_batches_are_remembered(log: Log) -> None:
    for sequence in range(6):
        log.append(sequence)
    for sequence in range(1, 6):
        duplicate = log.append(sequence)
        assert duplicate is not None
        assert duplicate.base_offset == sequence
    with pytest.raises(OutOfOrderSequence):
        log.append(0)


@pytest.mark.parametrize(("sequence", "count"), [(3, 1), (3, 3), (4, 1), (2, 3)])
def test_a_batch_that_overlaps_another_is_no_retry(log: Log, sequence: int, count: int) -> None:
    log.append(0, 3)
    log.append(3, 2)
    with pytest.raises(OutOfOrderSequence):
        log.append(sequence, count)


def test_a_stale_epoch_is_refused(log: Log) -> None:
    log.append(0, epoch=5)
    for sequence in (0, 1):
        with pytest.raises(InvalidProducerEpoch, match="smaller than the last seen epoch 5"):
            log.append(sequence, epoch=4)


def test_a_new_epoch_begins_at_zero(log: Log) -> None:
    log.append(0, 3, epoch=5)
    for sequence in (1, 3):
        with pytest.raises(OutOfOrderSequence, match="new epoch"):
            log.append(sequence, epoch=6)
    assert log.append(0, epoch=6) is None
    assert log.append(1, epoch=6) is None


def test_a_new_epoch_forgets_the_batches_of_the_old_one(log: Log) -> None:
    log.append(0, epoch=5)
    assert log.append(0, epoch=6) is None
    duplicate = log.append(0, epoch=6)
    assert duplicate is not None
    assert duplicate.base_offset == 1


def test_a_refused_batch_changes_nothing(log: Log) -> None:
    log.append(0, epoch=5)
    with pytest.raises(OutOfOrderSequence):
        log.append(3, epoch=6)
    assert log.append(1, epoch=5) is None


def test_sequences_go_on_at_zero_after_the_largest(log: Log) -> None:
    log.append(MAX_SEQUENCE)
    assert log.append(0) is None
    duplicate = log.append(MAX_SEQUENCE)
    assert duplicate is not None
    assert duplicate.base_offset == 0


def test_a_batch_across_the_largest_sequence_is_followed_and_found(log: Log) -> None:
    log.append(MAX_SEQUENCE - 1, 4)
    assert log.append(2) is None
    duplicate = log.append(MAX_SEQUENCE - 1, 4)
    assert duplicate is not None
    assert (duplicate.first_sequence, duplicate.last_sequence) == (MAX_SEQUENCE - 1, 1)


def test_producers_do_not_disturb_each_other(log: Log) -> None:
    assert log.append(0, producer=1) is None
    assert log.append(0, producer=2) is None
    assert log.append(1, producer=1) is None
    with pytest.raises(OutOfOrderSequence):
        log.append(2, producer=2)


def test_who_has_been_quiet_is_forgotten(log: Log) -> None:
    log.append(0, producer=1)
    log.append(0, producer=2)
    for state in log.producers:
        state.last_timestamp = 1000 * state.producer_id
    assert log.producers.expire(1500) == 1
    assert [state.producer_id for state in log.producers] == [2]
    assert log.append(50, producer=1) is None


def test_a_restored_producer_goes_on_where_it_was(log: Log) -> None:
    for sequence in range(3):
        log.append(sequence)
    again = Log()
    for state in log.producers:
        again.producers.restore(state)
    assert again.append(2) is not None
    assert again.append(3) is None


def test_a_clock_that_was_ahead_for_a_while_hides_nobody_who_has_appended_since(log: Log) -> None:
    log.producers.expire(TIMESTAMP + 1_000_000)
    log.producers.expire(TIMESTAMP - 1000)
    log.append(0)
    [kept] = log.producers.changed()
    log.producers = Producers(log.producers, {kept.producer_id: kept}.get)
    duplicate = log.append(0)
    assert duplicate is not None
    assert duplicate.base_offset == 0


# ---- after a failed commit


def test_a_producer_that_was_lost_whole_begins_again_where_it_began(log: Log) -> None:
    log.append(10)
    log.append(11)
    log.producers = Producers(log.producers)
    with pytest.raises(OutOfOrderSequence, match=r"12 \(incoming\), 10 \(expected\)"):
        log.append(12)
    assert log.append(10) is None
    assert log.append(11) is None
    assert log.append(10) is not None


def test_a_producer_that_was_lost_whole_may_begin_again_with_a_new_epoch(log: Log) -> None:
    log.append(10)
    log.producers = Producers(log.producers)
    assert log.append(0, epoch=1) is None


def test_what_a_lost_producer_began_with_is_forgotten_with_time(log: Log) -> None:
    log.append(10)
    log.producers = Producers(log.producers)
    log.producers.expire(TIMESTAMP + 1)
    assert log.append(12) is None
