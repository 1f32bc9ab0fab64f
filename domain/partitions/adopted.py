"""The log of another broker as the log of a partition: batches stay as they are.

begin    before the first batch
append   each batch; a segment of the other log may begin before it
settle   where the other log has a snapshot of its producers
end      after the last batch

Or, if the other log becomes this one as it is: `as_it_is`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from domain.messages.batch import CONTROL, RecordBatch
from domain.messages.control import read_end_marker
from domain.partitions.active_segment import EMPTY_SEGMENT, ActiveSegment, SegmentState
from domain.partitions.appended import Appended
from domain.partitions.leader_epochs import LeaderEpochs
from domain.partitions.log_end import LogEnd
from domain.partitions.partition import Partition
from domain.partitions.producers import ProducerState
from domain.partitions.snapshot import PartitionSnapshot
from domain.partitions.transactions import AbortedTransaction, OpenTransaction, Transactions


def begin(
    partition: Partition, start_offset: int, leader_epochs: Sequence[tuple[int, int]]
) -> None:
    """`leader_epochs`: with their first offsets, ascending."""
    end = LogEnd(next_offset=start_offset, start_offset=start_offset)
    segment = EMPTY_SEGMENT._replace(base_offset=start_offset)
    partition.restore(PartitionSnapshot(end, LeaderEpochs(leader_epochs), [], segment))


def as_it_is(
    partition: Partition,
    end: LogEnd,
    leader_epochs: Sequence[tuple[int, int]],
    segment: SegmentState,
    producers: Iterable[ProducerState],
    opened: Iterable[OpenTransaction],
    last_aborted_offset: int,
) -> None:
    """`opened`: transactions; of them only the producer and the first offset count."""
    transactions = Transactions((), last_aborted_offset)
    partition.restore(
        PartitionSnapshot(end, LeaderEpochs(leader_epochs), [], segment, transactions=transactions)
    )
    settle(partition, producers, opened)


def begin_segment(partition: Partition, base_offset: int) -> None:
    """The next batch begins a segment, whatever the limits are."""
    state = EMPTY_SEGMENT._replace(base_offset=base_offset)
    partition.segment = ActiveSegment(state, partition.end.appended_bytes, partition.config)


def append(partition: Partition, batch: RecordBatch) -> tuple[Appended, AbortedTransaction | None]:
    """Also returns the entry of the transaction index, if the batch is the marker of an abort."""
    first_offset = partition.transactions.first_offset(batch.producer_id)
    appended = partition.adopt_as_it_is(batch)
    marker = read_end_marker(batch) if batch.attributes & CONTROL else None
    if marker is None:
        return appended, None
    partition.producers.set_coordinator_epoch(marker)
    if marker.committed or first_offset is None:
        return appended, None
    oldest = partition.transactions.oldest
    offset = appended.last_offset
    stable = offset + 1 if oldest is None else oldest.first_offset
    partition.transactions.last_aborted_offset = offset
    return appended, AbortedTransaction(marker.producer_id, first_offset, offset, stable)


def settle(
    partition: Partition, states: Iterable[ProducerState], opened: Iterable[OpenTransaction]
) -> None:
    """The snapshot decides, because batches of it may be gone."""
    producers = partition.producers
    for state in states:
        known = producers.find(state.producer_id)
        if known is None or known.newest != state.newest:
            producers.restore(state)
        elif known.coordinator_epoch != state.coordinator_epoch:
            known.coordinator_epoch = state.coordinator_epoch
            producers.restore(known)
    known_bytes = {one.producer_id: one.appended_bytes for one in partition.transactions}
    ascending = sorted(opened, key=lambda one: one.first_offset)
    partition.transactions = Transactions(
        [one._replace(appended_bytes=known_bytes.get(one.producer_id, 0)) for one in ascending],
        partition.transactions.last_aborted_offset,
    )
    partition.end.first_unstable = partition.transactions.oldest


def end(partition: Partition, end_offset: int, cleaned_offset: int, cleaned_bytes: int) -> None:
    """`cleaned_offset`: below it compaction may have left gaps; 0: it was never compacted."""
    partition.end.next_offset = max(partition.end.next_offset, end_offset)
    if cleaned_offset:
        partition.cleaned_up_to(cleaned_offset, cleaned_bytes)
