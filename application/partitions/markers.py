"""TransactionMarkers: ends transactions in partitions, as their coordinator or an admin decides."""

from __future__ import annotations

from collections.abc import Callable

from application.ports.checksum import Checksum
from application.ports.clock import Clock
from application.ports.log_store import LogStore
from application.ports.transaction_index import TransactionIndex
from application.state.commits import Commits
from application.state.min_insync_replicas import MinInsyncReplicas
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
        min_insync_replicas: MinInsyncReplicas,
    ) -> None:
        self._log = log
        self._index = index
        self._commits = commits
        self._clock = clock
        self._checksum = checksum
        self._min_insync_replicas = min_insync_replicas
        #: Called with the producer id of a marker that is staged.
        self.when_written: Callable[[int], None] = lambda producer_id: None

    def check(self, partition: Partition) -> None:
        """Kafka appends markers with acks=all. Raises NotEnoughReplicas."""
        self._min_insync_replicas.check(partition)

    def write(self, partition: Partition, marker: EndMarker, transaction_version: int) -> None:
        """Stages a marker, also if the producer has no open transaction here, as in Kafka.

        Raises if it is stale, or the store is read-only.
        """
        health = self._commits.storage_health
        if health.is_read_only:
            raise health.refusal()
        first_offset = partition.transactions.first_offset(marker.producer_id)
        batch, appended = partition.append_marker(
            marker, self._clock.now_ms(), self._checksum, transaction_version
        )
        offset = appended.last_offset
        self._log.append(
            partition.partition_id,
            offset,
            batch.buffer,
            appended.indexed_timestamp,
            appended.begins_segment,
        )
        if first_offset is not None and not marker.committed:
            oldest = partition.transactions.oldest
            stable = offset + 1 if oldest is None else oldest.first_offset
            self._index.add(
                partition.partition_id,
                AbortedTransaction(marker.producer_id, first_offset, offset, stable),
            )
            partition.transactions.last_aborted_offset = offset
        self._commits.touch(partition)
        self.when_written(marker.producer_id)
