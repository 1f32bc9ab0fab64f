"""Partitions from snapshot rows and the log's headers, the same for every engine.

partitions      partition id -> {"end": [next offset, max timestamp, its offset],
                                 "producers": [[id, epoch, last timestamp, batches], ...]}
"""

from __future__ import annotations

import json
from struct import Struct
from typing import Any

from application.ports.log_store import LogStore
from application.ports.state_store import StateStore
from domain.partitions.partition import LogEnd, Partition, PartitionSnapshot
from domain.partitions.producers import AppendedBatch, ProducerState

_PARTITIONS = "partitions"
_PARTITION_ID = Struct(">I")

#: So many headers are in memory at a time.
_HEADERS_AT_ONCE = 1024


class StoredPartitionRepository:
    __slots__ = ("_log", "_state")

    def __init__(self, log: LogStore, state: StateStore) -> None:
        self._log = log
        self._state = state

    def recover(self, partition: Partition) -> None:
        partition_id = partition.partition_id
        row = self._state.get(_PARTITIONS, _PARTITION_ID.pack(partition_id))
        partition.restore(None if row is None else _snapshot(row))
        while True:
            headers = self._log.headers(partition_id, partition.next_offset, _HEADERS_AT_ONCE)
            for header in headers:
                partition.replay(header)
            if len(headers) < _HEADERS_AT_ONCE:
                return

    def snapshot(self, partition: Partition) -> None:
        key = _PARTITION_ID.pack(partition.partition_id)
        self._state.put(_PARTITIONS, key, _row(partition.snapshot()))

    def forget(self, partition_id: int) -> None:
        self._state.put(_PARTITIONS, _PARTITION_ID.pack(partition_id), None)


def _row(snapshot: PartitionSnapshot) -> bytes:
    end = snapshot.end
    row = {
        "end": [end.next_offset, end.max_timestamp, end.max_timestamp_offset],
        "producers": [_producer_values(state) for state in snapshot.producers],
    }
    return json.dumps(row, separators=(",", ":")).encode()


def _producer_values(state: ProducerState) -> list[Any]:
    batches = [
        [b.first_sequence, b.last_sequence, b.base_offset, b.last_offset, b.timestamp]
        for b in state.batches
    ]
    return [state.producer_id, state.epoch, state.last_timestamp, batches]


def _snapshot(row: bytes) -> PartitionSnapshot:
    values = json.loads(row)
    return PartitionSnapshot(
        LogEnd(*values["end"]), [_producer(values) for values in values["producers"]]
    )


def _producer(values: list[Any]) -> ProducerState:
    producer_id, epoch, last_timestamp, batches = values
    state = ProducerState(producer_id, epoch, last_timestamp)
    state.batches = [AppendedBatch(*batch) for batch in batches]
    return state
