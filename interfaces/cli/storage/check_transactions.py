"""Checks the transactions of one partition: its open ones, and the transaction index."""

from __future__ import annotations

from collections.abc import Iterator

from application.ports.transaction_index import TransactionIndex
from domain.messages.batch import CONTROL, TRANSACTIONAL, RecordBatch
from domain.messages.control import read_end_marker
from domain.partitions.partition import Partition


class CheckedTransactions:
    def __init__(self) -> None:
        #: Producers with records since their last marker.
        self._open: set[int] = set()
        #: The offset of each marker that aborts; whether records of its transaction are left.
        self._aborts: dict[int, bool] = {}

    def add(self, batch: RecordBatch) -> None:
        """Batches in the order of the log."""
        if not batch.attributes & TRANSACTIONAL or batch.producer_id < 0:
            return
        if not batch.attributes & CONTROL:
            if batch.count:
                self._open.add(batch.producer_id)
            return
        marker = read_end_marker(batch)
        if marker is not None and not marker.committed:
            self._aborts[batch.base_offset] = batch.producer_id in self._open
        self._open.discard(batch.producer_id)

    def problems(self, partition: Partition, index: TransactionIndex) -> Iterator[str]:
        for producer_id in sorted(self._open):
            if producer_id not in partition.transactions:
                yield f"the snapshot lacks the open transaction of producer {producer_id}"
        start = partition.log_start_offset
        entries = {one.last_offset for one in index.since(partition.partition_id, start)}
        for offset in sorted(entries - self._aborts.keys()):
            yield f"the transaction index has offset {offset}, where no transaction is aborted"
        for offset, has_records in self._aborts.items():
            if has_records and offset >= start and offset not in entries:
                yield f"the transaction index lacks the transaction aborted at offset {offset}"
