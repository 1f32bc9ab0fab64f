"""TransactionMarkers: ends transactions in partitions, as their coordinator or an admin decides."""

from __future__ import annotations

from application.ports.checksum import Checksum
from application.ports.clock import Clock
from application.ports.log_store import LogStore
from application.ports.transaction_index import TransactionIndex
from application.state.commits import Commits
from domain.messages.control import EndMarker
from domain.partitions.partition import Partition
from domain.partitions.transactions import AbortedTransaction


class TransactionMarkers:
    def __init__(
        self,
        log: LogStore,
        index: TransactionIndex,
        commits: Commits,
        clock: Clock,
        checksum: Checksum,
    ) -> None:
        self._log = log
        self._index = index
        self._commits = commits
        self._clock = clock
        self._checksum = checksum

    def write(
        self,
        partition: Partition,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        committed: bool,
        now_ms: int,
    ) -> None:
        """Stages a marker, unless this partition has it: the coordinator may repeat the call."""
        state = partition.producers.find(producer_id)
        if (
            state is None
            or state.epoch != producer_epoch
            or partition.transactions.first_offset(producer_id) is not None
        ):
            marker = EndMarker(producer_id, producer_epoch, coordinator_epoch, committed)
            self._append(partition, marker, now_ms)

    def append(self, partition: Partition, marker: EndMarker, transaction_version: int) -> None:
        """Stages a marker in any case. Raises if it is stale."""
        self._append(partition, marker, self._clock.now_ms(), transaction_version)

    def _append(
        self, partition: Partition, marker: EndMarker, now_ms: int, transaction_version: int = 0
    ) -> None:
        first_offset = partition.transactions.first_offset(marker.producer_id)
        batch, appended = partition.append_marker(
            marker, now_ms, self._checksum, transaction_version
        )
        offset = appended.last_offset
        self._log.append(partition.partition_id, offset, batch.buffer, appended.indexed_timestamp)
        if first_offset is not None and not marker.committed:
            oldest = partition.transactions.oldest
            stable = offset + 1 if oldest is None else oldest.first_offset
            self._index.add(
                partition.partition_id,
                AbortedTransaction(marker.producer_id, first_offset, offset, stable),
            )
            partition.transactions.last_aborted_offset = offset
        self._commits.touch(partition)
