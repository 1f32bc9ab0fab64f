"""The rows of a partition whose log a power cut has made shorter.

The next recovery reads the log from its start: producers, transactions, leader epochs and size are
what the batches say that are left.
"""

from __future__ import annotations

from application.ports.log_store import LogStore
from application.ports.state_store import StateStore
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from infrastructure.storage.repositories.transaction_index import StoredTransactionIndex


def bring_in_line(
    log: LogStore,
    state: StateStore,
    partition_id: int,
    is_shorter: bool,
    first_offset: int,
    end_offset: int,
) -> None:
    """Stages it where the log, or what is left of it, is behind the rows. Raises StorageFailed."""
    partitions = StoredPartitionRepository(log, state)
    if is_shorter or partitions.snapshot_bounds(partition_id)[1] > end_offset:
        partitions.cut(partition_id, first_offset, end_offset)
        StoredTransactionIndex(state).remove_from(partition_id, end_offset)
