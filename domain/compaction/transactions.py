"""Transactions as compaction sees them: aborted batches go, and markers once they end nothing.

As in Kafka's `CleanedTransactionMetadata`. A marker is needed as long as a batch of its transaction
is in the log, with or without records.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from domain.messages.batch import RecordBatch
from domain.partitions.transactions import AbortedTransaction


class CleanedTransactions:
    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        #: By producer id: first offsets, and the offsets of markers; ascending.
        self._aborted: dict[int, tuple[list[int], list[int]]] = {}
        for one in sorted(aborted, key=lambda each: each.first_offset):
            firsts, lasts = self._aborted.setdefault(one.producer_id, ([], []))
            firsts.append(one.first_offset)
            lasts.append(one.last_offset)
        #: Producers with a batch since their last marker.
        self._begun: set[int] = set()

    def is_aborted(self, batch: RecordBatch) -> bool:
        firsts, lasts = self._aborted.get(batch.producer_id, ([], []))
        index = bisect_right(firsts, batch.base_offset) - 1
        return index >= 0 and batch.base_offset < lasts[index]

    def read(self, batch: RecordBatch) -> None:
        """Batches and markers are read in the order of the log."""
        self._begun.add(batch.producer_id)

    def end(self, marker: RecordBatch) -> bool:
        """True if no batch of the transaction is left."""
        is_empty = marker.producer_id not in self._begun
        self._begun.discard(marker.producer_id)
        return is_empty
