"""The rows of a partition whose log a power cut has made shorter.

The next recovery reads the log from its start: producers, transactions, leader epochs and size are
what the batches say that are left.
"""

from __future__ import annotations

from application.ports.log_store import LogStore
from application.ports.state_store import StateStore
from infrastructure.storage.engine import Edges
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from infrastructure.storage.repositories.transaction_index import StoredTransactionIndex


def bring_in_line(log: LogStore, state: StateStore, partition_id: int, edges: Edges) -> None:
    """Stages it. Raises StorageFailed."""
    partitions = StoredPartitionRepository(log, state)
    if not edges.is_shorter and partitions.snapshot_bounds(partition_id)[1] <= edges.end_offset:
        return
    partitions.cut(partition_id, edges.first_offset, edges.end_offset)
    StoredTransactionIndex(state).remove_from(partition_id, edges.end_offset)
