from __future__ import annotations

import pytest

from domain.errors import InvalidProducerEpoch, OutOfOrderSequence
from domain.messages.batch import MAX_SEQUENCE, RecordBatch
from domain.partitions import producers
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
def test_an_unknown_producer_can_start_at_any_sequence(log: Log, sequence: int) -> None:
    assert log.append(sequence, epoch=4) is None
    assert len(log.producers) == 1


@pytest.mark.parametrize("sequence", [4, 6, 100])
def test_a_gap_is_refused(log: Log, sequence: int) -> None:
    log.append(0, 3)
    with pytest.raises(OutOfOrderSequence, match=r"3 \(expected\)"):
        log.append(sequence)


def test_a_retry_is_found(log: Log) -> None:
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
def test_an_overlapping_batch_is_no_retry(log: Log, sequence: int, count: int) -> None:
    log.append(0, 3)
    log.append(3, 2)
    with pytest.raises(OutOfOrderSequence):
        log.append(sequence, count)


def test_a_stale_epoch_is_refused(log: Log) -> None:
    log.append(0, epoch=5)
    for sequence in (0, 1):
        with pytest.raises(InvalidProducerEpoch, match="smaller than the last seen epoch 5"):
            log.append(sequence, epoch=4)


def test_a_new_epoch_starts_at_zero(log: Log) -> None:
    log.append(0, 3, epoch=5)
    for sequence in (1, 3):
        with pytest.raises(OutOfOrderSequence, match="new epoch"):
            log.append(sequence, epoch=6)
    assert log.append(3, epoch=5) is None, "a refused batch changes nothing"
    assert log.append(0, epoch=6) is None
    duplicate = log.append(0, epoch=6)
    assert duplicate is not None and duplicate.base_offset == 4
    assert log.append(1, epoch=6) is None


@pytest.mark.parametrize(("sequence", "count"), [(MAX_SEQUENCE, 1), (MAX_SEQUENCE - 1, 4)])
def test_sequences_wrap_around(log: Log, sequence: int, count: int) -> None:
    log.append(sequence, count)
    last = sequence + count - 1 - MAX_SEQUENCE - 1
    assert log.append(last + 1) is None
    duplicate = log.append(sequence, count)
    assert duplicate is not None
    assert (duplicate.base_offset, duplicate.first_sequence) == (0, sequence)
    assert duplicate.last_sequence == (last if last >= 0 else MAX_SEQUENCE)


def test_producers_are_independent(log: Log) -> None:
    assert log.append(0, producer=1) is None
    assert log.append(0, producer=2) is None
    assert log.append(1, producer=1) is None
    with pytest.raises(OutOfOrderSequence):
        log.append(2, producer=2)


def test_an_idle_producer_expires(log: Log) -> None:
    log.append(0, producer=1)
    log.append(0, producer=2)
    for state in log.producers:
        state.last_timestamp = 1000 * state.producer_id
    assert log.producers.expire(1500) == 1
    assert [state.producer_id for state in log.producers] == [2]
    assert log.append(50, producer=1) is None


def test_a_restored_producer_continues(log: Log) -> None:
    for sequence in range(3):
        log.append(sequence)
    again = Log()
    for state in log.producers:
        again.producers.restore(state)
    assert again.append(2) is not None
    assert again.append(3) is None


def test_a_clock_that_was_ahead_does_not_hide_later_producers(log: Log) -> None:
    log.producers.expire(TIMESTAMP + 1_000_000)
    log.producers.expire(TIMESTAMP - 1000)
    log.append(0)
    [changed] = log.producers.changed()
    log.producers = Producers(log.producers, {changed.producer_id: changed}.get)
    duplicate = log.append(0)
    assert duplicate is not None
    assert duplicate.base_offset == 0


def test_a_lost_producer_must_repeat_its_first_sequence_or_raise_its_epoch(log: Log) -> None:
    log.append(10)
    log.append(11)
    log.producers = Producers(log.producers)
    with pytest.raises(OutOfOrderSequence, match=r"12 \(incoming\), 10 \(expected\)"):
        log.append(12)
    assert log.append(10) is None
    assert log.append(11) is None
    assert log.append(10) is not None
    log.producers = Producers(log.producers)
    assert log.append(0, epoch=1) is None


def test_a_producer_is_lost_with_the_commits_of_two_snapshots(log: Log) -> None:
    """A hand-over takes one while the commit of another one is under way."""
    log.append(0, producer=1)
    log.producers.changed()
    log.append(0, producer=2)
    log.producers.changed()
    log.producers = Producers(log.producers)
    for producer_id in (1, 2):
        with pytest.raises(OutOfOrderSequence):
            log.append(1, producer=producer_id)


def test_of_many_refused_producers_the_latest_are_awaited(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(producers, "AWAITED_MAX", 2)
    for producer_id in (1, 2, 3):
        log.producers.await_first(batch(0, producer=producer_id), 0)
    log.append(1, producer=1)
    for producer_id in (2, 3):
        with pytest.raises(OutOfOrderSequence):
            log.append(1, producer=producer_id)


def test_the_first_sequence_of_a_lost_producer_expires(log: Log) -> None:
    log.append(10)
    log.producers = Producers(log.producers)
    log.producers.expire(TIMESTAMP + 1)
    assert log.append(12) is None
