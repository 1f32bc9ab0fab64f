"""Appends batches that the broker has built, or has read from another log."""

from __future__ import annotations

from application.ports.log_store import LogStore
from application.state.commits import Commits
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition


def adopt(log: LogStore, commits: Commits, partition: Partition, batch: RecordBatch) -> None:
    """Durable after the next commit."""
    adopted = partition.adopt(batch)
    log.append(
        partition.partition_id,
        adopted.last_offset,
        batch.buffer,
        adopted.indexed_timestamp,
        adopted.begins_segment,
    )
    commits.touch(partition)
