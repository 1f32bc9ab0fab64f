"""Partitions from snapshot rows and the log's headers, the same for every engine.

partitions      partition id -> {"end": [next offset, max timestamp, its offset],
                                 "start": log start offset, "size": bytes of batches,
                                 "epochs": [[leader epoch, its first offset], ...],
                                 "segment": [base offset, bytes, first timestamp],
                                 "cleaned": [first dirty offset, bytes below it],
                                 "open": [[producer id, first offset], ...],
                                 "aborted": last offset in the transaction index}
trimming        partition id -> nothing: batches below the log start are still to be removed
producers       partition id, producer id -> epoch, last timestamp, batches
                and, after a transaction, coordinator epoch, first offset of the open one or -1

The last two of a partition are there only if it had transactions. A producer's row is written with
the first snapshot after its append.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from application.ports.log_store import LogStore
from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from domain.messages.batch import NO_TIMESTAMP, RecordBatch
from domain.partitions.active_segment import SegmentState
from domain.partitions.leader_epochs import LeaderEpochs
from domain.partitions.log_end import LogEnd
from domain.partitions.partition import Partition
from domain.partitions.producers import (
    NO_COORDINATOR_EPOCH,
    AppendedBatch,
    LookUp,
    ProducerState,
)
from domain.partitions.snapshot import NOT_CLEANED, Cleaned, PartitionSnapshot
from domain.partitions.transactions import NONE_ABORTED, OpenTransaction, Transactions
from infrastructure.storage.repositories.partition_rows import KEY, rows_from

PARTITIONS = "partitions"
PARTITION_ID = Struct(">I")

_TRIMMING = "trimming"

_PRODUCERS = "producers"
_PRODUCER = Struct(">hq")
_BATCH = Struct(">iiqqq")
_TRANSACTION = Struct(">iq")
_NOT_OPEN = -1

#: Of a snapshot without epochs.
FIRST_EPOCH = ((0, 0),)

NO_OFFSET = -1

#: Headers that are read at once.
_HEADERS_AT_ONCE = 1024


class SnapshotBounds(NamedTuple):
    start_offset: int
    end_offset: int
    #: Of the log that ends there.
    last_stable_offset: int


def bounds_of(row: bytes) -> SnapshotBounds:
    """Of a row of `partitions`, which is right. There may be newer batches, but no newer start."""
    values = json.loads(row)
    start_offset, end_offset = values["start"], values["end"][0]
    unstable = min((first for _, first in values.get("open", ())), default=end_offset)
    return SnapshotBounds(start_offset, end_offset, max(unstable, start_offset))


class StoredPartitionRepository:
    __slots__ = ("_log", "_state")

    def __init__(self, log: LogStore, state: StateStore) -> None:
        self._log = log
        self._state = state

    def recover(self, partition: Partition, waits: bool = True) -> None:
        try:
            self._recover(partition, waits)
        except (ValueError, KeyError, TypeError, StructError) as damage:
            raise _damaged(partition.partition_id, damage) from damage

    def _recover(self, partition: Partition, waits: bool) -> None:
        partition_id = partition.partition_id
        row = self._state.get(PARTITIONS, PARTITION_ID.pack(partition_id))
        if row is None:
            partition.restore(None)
        else:
            values = json.loads(row)
            next_offset, max_timestamp, its_offset = values["end"]
            end = LogEnd(next_offset, max_timestamp, its_offset, 0, values["start"], values["size"])
            epochs = LeaderEpochs(values.get("epochs", FIRST_EPOCH))
            segment = SegmentState(*values["segment"]) if "segment" in values else None
            cleaned = Cleaned(*values.get("cleaned", NOT_CLEANED))
            opened = [OpenTransaction(*each) for each in values.get("open", ())]
            transactions = Transactions(opened, values.get("aborted", NONE_ABORTED))
            snapshot = PartitionSnapshot(end, epochs, [], segment, cleaned, transactions)
            partition.restore(snapshot, self._look_up(partition_id))
        while headers := self._log.headers(
            partition_id, partition.end.next_offset, _HEADERS_AT_ONCE, waits
        ):
            for header in headers:
                partition.replay(header)

    def snapshot_bounds(self, partition_id: int) -> tuple[int, int]:
        """Log start and end offset as of the newest snapshot; there may be newer batches."""
        row = self._state.get(PARTITIONS, PARTITION_ID.pack(partition_id))
        if row is None:
            return 0, 0
        try:
            values = json.loads(row)
            return int(values["start"]), int(values["end"][0])
        except (ValueError, KeyError, TypeError) as damage:
            raise _damaged(partition_id, damage) from damage

    def _look_up(self, partition_id: int) -> LookUp:
        def look_up(producer_id: int) -> ProducerState | None:
            row = self._state.get(_PRODUCERS, KEY.pack(partition_id, producer_id))
            if row is None:
                return None
            try:
                return _producer(producer_id, row)
            except StructError as damage:
                raise _damaged(partition_id, damage) from damage

        return look_up

    def producers(self, partition_id: int) -> Iterator[ProducerState]:
        """The state of each, as of the newest snapshot with an append of its own."""
        for producer_id, row in rows_from(
            self._state, _PRODUCERS, partition_id, 0, _HEADERS_AT_ONCE
        ):
            try:
                yield _producer(producer_id, row)
            except StructError as damage:
                raise _damaged(partition_id, damage) from damage

    def snapshot(self, partition: Partition) -> None:
        snapshot = partition.snapshot()
        partition_id = partition.partition_id
        for state in snapshot.producers:
            key = KEY.pack(partition_id, state.producer_id)
            self._state.put(_PRODUCERS, key, _producer_row(state, snapshot.transactions))
        end = snapshot.end
        row: dict[str, object] = {
            "end": [end.next_offset, end.max_timestamp, end.max_timestamp_offset],
            "start": end.start_offset,
            "size": end.size_bytes,
            "epochs": snapshot.leader_epochs.starts(),
            "segment": snapshot.segment,
            "cleaned": snapshot.cleaned,
        }
        if snapshot.transactions:
            row["open"] = [one[:2] for one in snapshot.transactions]
        if snapshot.transactions.last_aborted_offset != NONE_ABORTED:
            row["aborted"] = snapshot.transactions.last_aborted_offset
        self._state.put(
            PARTITIONS,
            PARTITION_ID.pack(partition_id),
            json.dumps(row, separators=(",", ":")).encode(),
        )

    def cut(self, partition_id: int, first_offset: int, end_offset: int) -> None:
        """The log is shorter by now: stages a snapshot from which all of it is replayed."""
        try:
            self._cut(partition_id, first_offset, end_offset)
        except (ValueError, KeyError, TypeError, StructError) as damage:
            raise _damaged(partition_id, damage) from damage

    def _cut(self, partition_id: int, first_offset: int, end_offset: int) -> None:
        for producer_id, _ in rows_from(self._state, _PRODUCERS, partition_id, 0, _HEADERS_AT_ONCE):
            self._state.put(_PRODUCERS, KEY.pack(partition_id, producer_id), None)
        key = PARTITION_ID.pack(partition_id)
        row = self._state.get(PARTITIONS, key)
        values = {} if row is None else json.loads(row)
        start = max(values.get("start", 0), first_offset)
        epochs = values.get("epochs", FIRST_EPOCH)
        cleaned = Cleaned(*values.get("cleaned", NOT_CLEANED))
        snapshot = {
            "end": [start, NO_TIMESTAMP, NO_OFFSET],
            "start": start,
            "size": self._bytes_below(partition_id, start),
            "epochs": [one for one in epochs if one[1] <= start] or FIRST_EPOCH,
            "cleaned": cleaned if cleaned.next_offset <= end_offset else NOT_CLEANED,
        }
        packed = json.dumps(snapshot, separators=(",", ":")).encode()
        self._state.put(PARTITIONS, key, packed)

    def _bytes_below(self, partition_id: int, offset: int) -> int:
        """Of batches that end below the log start, and are not removed yet."""
        size_bytes = at = 0
        while headers := self._log.headers(partition_id, at, _HEADERS_AT_ONCE, waits=True):
            for header in headers:
                batch = RecordBatch(memoryview(header))
                at = batch.last_offset + 1
                if at > offset:
                    return size_bytes
                size_bytes += batch.size_bytes
        return size_bytes

    def save_trimming(self, partition_id: int, unfinished: bool) -> None:
        value = b"" if unfinished else None
        self._state.put(_TRIMMING, PARTITION_ID.pack(partition_id), value)

    def trimming(self) -> list[int]:
        return [PARTITION_ID.unpack(key)[0] for key, _ in self._state.scan(_TRIMMING)]

    def forget(self, partition_id: int, max_rows: int) -> bool:
        self._state.put(PARTITIONS, PARTITION_ID.pack(partition_id), None)
        self._state.put(_TRIMMING, PARTITION_ID.pack(partition_id), None)
        first = KEY.pack(partition_id, 0)
        count = 0
        for key, _ in self._state.scan(_PRODUCERS, first, max_rows):
            if not key.startswith(first[: PARTITION_ID.size]):
                break
            self._state.put(_PRODUCERS, key, None)
            count += 1
        return count < max_rows

    def forget_silent(
        self,
        before_timestamp: int,
        place: bytes,
        max_rows: int,
        transactions: Callable[[int], Container[int] | None],
        is_led: Callable[[int], bool],
    ) -> bytes | None:
        rows = self._state.scan(_PRODUCERS, place, max_rows)
        for key, row in rows:
            # A damaged row stays: the next request of that producer fails with it.
            if (
                len(row) >= _PRODUCER.size
                and _PRODUCER.unpack_from(row)[1] < before_timestamp
                and is_led(KEY.unpack(key)[0])
                and not _is_open(key, row, transactions)
            ):
                self._state.put(_PRODUCERS, key, None)
        return rows[-1][0] + b"\0" if len(rows) == max_rows else None


def _damaged(partition_id: int, damage: Exception) -> StorageFailed:
    return StorageFailed(f"The store could not read partition {partition_id}: {damage!r}")


def _producer_row(state: ProducerState, transactions: Transactions) -> bytes:
    batches = (
        _BATCH.pack(b.first_sequence, b.last_sequence, b.base_offset, b.last_offset, b.timestamp)
        for b in state.batches
    )
    row = _PRODUCER.pack(state.epoch, state.last_timestamp) + b"".join(batches)
    first_offset = transactions.first_offset(state.producer_id)
    if first_offset is None and state.coordinator_epoch == NO_COORDINATOR_EPOCH:
        return row
    open_from = _NOT_OPEN if first_offset is None else first_offset
    return row + _TRANSACTION.pack(state.coordinator_epoch, open_from)


def _producer(producer_id: int, row: bytes) -> ProducerState:
    epoch, last_timestamp = _PRODUCER.unpack_from(row)
    state = ProducerState(producer_id, epoch, last_timestamp)
    state.coordinator_epoch, _ = _transaction(row)
    batches = row[_PRODUCER.size : len(row) - _transaction_bytes(row)]
    state.batches = [AppendedBatch(*values) for values in _BATCH.iter_unpack(batches)]
    return state


def _transaction(row: bytes) -> tuple[int, int]:
    """Coordinator epoch, and first offset of the open transaction."""
    if not _transaction_bytes(row):
        return NO_COORDINATOR_EPOCH, _NOT_OPEN
    coordinator_epoch, first_offset = _TRANSACTION.unpack_from(row, len(row) - _TRANSACTION.size)
    return coordinator_epoch, first_offset


def _is_open(key: bytes, row: bytes, transactions: Callable[[int], Container[int] | None]) -> bool:
    """The row may be older than the end of the transaction."""
    if _transaction(row)[1] == _NOT_OPEN:
        return False
    partition_id, producer_id = KEY.unpack(key)
    opened = transactions(partition_id)
    return opened is None or producer_id in opened


def _transaction_bytes(row: bytes) -> int:
    """Rows of producers without transactions, and of earlier versions, end with a batch."""
    is_there = (len(row) - _PRODUCER.size) % _BATCH.size == _TRANSACTION.size
    return _TRANSACTION.size if is_there else 0
