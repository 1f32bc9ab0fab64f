"""The log of another broker is adopted as it is."""

from __future__ import annotations

from typing import Any

from crc32c import crc32c

from domain.configs.topic import TopicConfig
from domain.messages.batch import RecordBatch
from domain.messages.control import EndMarker, end_marker
from domain.partitions import adopted
from domain.partitions.partition import Partition
from domain.partitions.producers import AppendedBatch, ProducerState
from domain.partitions.transactions import AbortedTransaction, OpenTransaction
from tests.fakes.batches import TIMESTAMP, record_batch

PRODUCER, OTHER, GONE = 7, 8, 9


def batch(offset: int, leader_epoch: int = 0, **facts: Any) -> RecordBatch:
    data = record_batch(["a", "b"], base_offset=offset, leader_epoch=leader_epoch, **facts)
    return RecordBatch(memoryview(data))


def of_transaction(offset: int, producer_id: int, sequence: int = 0) -> RecordBatch:
    return batch(offset, producer_id=producer_id, epoch=0, sequence=sequence, transactional=True)


def marker(
    offset: int, producer_id: int, committed: bool, coordinator_epoch: int = 3
) -> RecordBatch:
    made = end_marker(EndMarker(producer_id, 0, coordinator_epoch, committed), TIMESTAMP, crc32c)
    made.set_offset(offset, 0)
    return made


def new(start_offset: int = 0, *epochs: tuple[int, int]) -> Partition:
    partition = Partition(1, "t", 0, TopicConfig())
    adopted.begin(partition, start_offset, epochs)
    return partition


def snapshot_of(partition: Partition) -> tuple[int, int, list[tuple[int, int]]]:
    snapshot = partition.snapshot()
    return snapshot.end.start_offset, snapshot.end.next_offset, snapshot.leader_epochs.starts()


def test_offsets_gaps_and_leader_epochs_stay() -> None:
    partition = new(5)
    for one in (batch(4, 1), batch(10, 1), batch(20, 4)):
        before = bytes(one.buffer)
        adopted.append(partition, one)
        assert bytes(one.buffer) == before
    assert snapshot_of(partition) == (5, 22, [(1, 4), (4, 20)])
    assert partition.end.max_timestamp_offset == 5


def test_an_epoch_without_batches_stays() -> None:
    partition = new(0, (0, 0), (2, 2), (3, 2), (5, 4))
    for one in (batch(0, 0), batch(2, 3)):
        adopted.append(partition, one)
    adopted.end(partition, 4, 0, 0)
    assert snapshot_of(partition) == (0, 4, [(0, 0), (3, 2), (5, 4)])


def test_an_empty_log_begins_where_the_other_ends() -> None:
    partition = new(17, (2, 17))
    adopted.end(partition, 17, 0, 0)
    assert snapshot_of(partition) == (17, 17, [(2, 17)])


def test_transactions_end_and_the_index_has_the_aborted_one() -> None:
    partition = new()
    entries = [
        adopted.append(partition, one)[1]
        for one in (
            of_transaction(0, PRODUCER),
            of_transaction(2, OTHER),
            marker(4, OTHER, False),
            of_transaction(5, OTHER, 2),
            marker(7, PRODUCER, True),
            marker(8, GONE, False),  # of a transaction without records here
        )
    ]
    assert [one for one in entries if one is not None] == [AbortedTransaction(OTHER, 2, 4, 0)]
    assert [one[:2] for one in partition.transactions] == [(OTHER, 5)]
    assert partition.end.first_unstable is not None
    assert partition.producers.find(PRODUCER).coordinator_epoch == 3  # type: ignore[union-attr]


def test_a_batch_that_compaction_has_emptied_begins_no_transaction() -> None:
    partition = new()
    producer = {"producer_id": PRODUCER, "epoch": 0, "sequence": 4}
    adopted.append(partition, batch(0, **producer, transactional=True, count=0, payload=b""))
    assert not partition.transactions
    assert partition.producers.find(PRODUCER).newest == (0, 5, 1)  # type: ignore[union-attr]


def test_a_snapshot_adds_producers_whose_batches_are_gone() -> None:
    partition = new(10)
    adopted.append(partition, batch(10, producer_id=PRODUCER, epoch=0, sequence=0))
    gone = ProducerState(GONE, 2, TIMESTAMP)
    gone.batches.append(AppendedBatch(5, 6, 3, 4, TIMESTAMP))
    adopted.settle(partition, [gone], [OpenTransaction(GONE, 3)])
    assert partition.producers.find(GONE).newest == (2, 6, 4)  # type: ignore[union-attr]
    assert partition.end.first_unstable == OpenTransaction(GONE, 3)
    assert {one.producer_id for one in partition.snapshot().producers} == {PRODUCER, GONE}


def test_a_snapshot_decides_but_more_batches_of_a_producer_are_remembered() -> None:
    partition = new()
    for offset in (0, 2, 4):
        adopted.append(partition, of_transaction(offset, PRODUCER, offset))
    adopted.append(partition, of_transaction(6, OTHER))
    same = ProducerState(PRODUCER, 0, TIMESTAMP)
    same.batches.append(AppendedBatch(4, 5, 4, 5, TIMESTAMP))
    same.coordinator_epoch = 2
    other = ProducerState(OTHER, 6, TIMESTAMP)
    adopted.settle(partition, [same, other], [])
    known = partition.producers.find(PRODUCER)
    assert known is not None
    assert (len(known.batches), known.coordinator_epoch) == (3, 2)
    assert partition.producers.find(OTHER).newest == (6, -1, -1)  # type: ignore[union-attr]
    assert partition.end.first_unstable is None


def test_the_active_segment_is_that_of_the_other_log() -> None:
    partition = new()
    adopted.append(partition, batch(0))
    adopted.begin_segment(partition, 2)
    adopted.append(partition, batch(6))
    adopted.end(partition, 8, 2, 80)
    snapshot = partition.snapshot()
    assert (snapshot.segment.base_offset, snapshot.cleaned) == (2, (2, 80))
