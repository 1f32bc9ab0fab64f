"""PartitionSnapshot: the state of a partition, which a restart would otherwise read from all
headers.
"""

from __future__ import annotations

from typing import NamedTuple

from domain.messages.batch import NO_TIMESTAMP
from domain.partitions.active_segment import SegmentState
from domain.partitions.leader_epochs import LeaderEpochs
from domain.partitions.log_end import LogEnd
from domain.partitions.producers import ProducerState
from domain.partitions.transactions import Transactions


class Cleaned(NamedTuple):
    """The part of a log that compaction has cleaned."""

    #: The first dirty offset.
    next_offset: int
    size_bytes: int


NOT_CLEANED = Cleaned(0, 0)


class PartitionSnapshot:
    __slots__ = ("cleaned", "end", "leader_epochs", "producers", "segment", "transactions")

    def __init__(
        self,
        end: LogEnd,
        leader_epochs: LeaderEpochs,
        producers: list[ProducerState],
        segment: SegmentState | None = None,
        cleaned: Cleaned = NOT_CLEANED,
        transactions: Transactions | None = None,
    ) -> None:
        self.end = end
        self.leader_epochs = leader_epochs
        #: Producers that changed since the last snapshot.
        self.producers = producers
        self.cleaned = cleaned
        #: Not in snapshots of earlier versions: the whole log, so that nothing is compacted early.
        self.segment = segment or SegmentState(end.start_offset, end.size_bytes, NO_TIMESTAMP)
        self.transactions = Transactions() if transactions is None else transactions
