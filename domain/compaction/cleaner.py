"""Cleaner: one pass of compaction over a log, as Kafka's cleaner does it.

First it reads the dirty section, from the first dirty offset to the first uncleanable one, into the
offset map; if the map is full, the pass ends there. Then it reads everything from the log start up
to the same end, and filters each batch; a dirty one it opens again only if the map has an offset of
it. A record stays if it is the newest of its key and has a value. A tombstone stays until the
delete horizon of its batch. A record without a key goes.

A batch that loses nothing stays byte for byte. A batch that loses everything goes, unless it has
the last sequence of a producer, or is the last one that may be cleaned: it stays without records.

Records of aborted transactions go. A marker stays until no batch of its transaction is left; then
it gets a delete horizon, as a batch with a tombstone, and goes after it. A marker that has the
newest epoch of a producer without records stays, without its record.

Batches that cannot be opened, or whose timestamps cannot be written again, stay as they are, and
are counted. The keys of the former are unknown, so they remove no older records; and after either a
tombstone stays, because it may hide a value of theirs.

The caller reads and writes the log:

    while not cleaner.is_done:
        data = log.read(partition_id, cleaner.position, cleaner.end_offset, max_bytes, True)
        replacement = cleaner.advance(data)

A pass that is cut runs again: the log is valid after each replacement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domain.compaction.offset_map import OffsetMap
from domain.compaction.records import Records, read_records, record_bounds
from domain.compaction.rewriting import emptied, rewritten
from domain.compaction.transactions import CleanedTransactions
from domain.configs.settings.definition import LONG_MAX
from domain.errors import CorruptMessage, InvalidRecord
from domain.messages.batch import (
    CONTROL,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    Checksum,
    RecordBatch,
    batches_in,
)
from domain.messages.building import Compress
from domain.partitions.partition import INDEX_INTERVAL_BYTES
from domain.partitions.transactions import AbortedTransaction

#: Decompresses the records of a batch; raises CorruptMessage or InvalidRecord.
OpenBatch = Callable[[RecordBatch], bytes]


class CleaningPlan(NamedTuple):
    log_start_offset: int
    first_dirty_offset: int
    first_uncleanable_offset: int
    now_ms: int
    delete_retention_ms: int
    #: The last offset of each active producer.
    producers: Mapping[int, int]
    #: The size of the dedupe buffer, times its load factor.
    map_bytes: int
    #: The epochs of active producers that have no batch since their last marker.
    marker_epochs: Mapping[int, int] = {}
    #: That overlap the log up to the first uncleanable offset.
    aborted: Sequence[AbortedTransaction] = ()


class Codecs(NamedTuple):
    open_batch: OpenBatch
    compress: Compress
    checksum: Checksum


class Replacement(NamedTuple):
    """All batches within the two offsets become `batches`."""

    first_offset: int
    last_offset: int
    #: In order; views of the data that was read, and new ones.
    batches: list[bytes | memoryview]
    #: Entries of the timestamp index: the largest timestamp so far, and a last offset.
    indexed: list[tuple[int, int]]


@dataclass(slots=True)
class CleanerStats:
    """Under Kafka's names; `messages_written` and `bytes_written` are those that stay."""

    map_bytes_read: int = 0
    messages_read: int = 0
    bytes_read: int = 0
    messages_written: int = 0
    bytes_written: int = 0
    #: Batches that could not be opened, or not be written again.
    unreadable_batches: int = 0
    #: 1.0 is full.
    buffer_utilization: float = 0.0


class Cleaner:
    def __init__(self, plan: CleaningPlan, codecs: Codecs) -> None:
        self.stats = CleanerStats()
        self.is_done = False
        #: Where to read next,
        self.position = plan.first_dirty_offset
        #: and up to which offset. After the first part: the first dirty offset of the next pass.
        self.end_offset = plan.first_uncleanable_offset
        self._plan = plan
        self._codecs = codecs
        self._map = OffsetMap(plan.map_bytes)
        self._transactions = CleanedTransactions(plan.aborted)
        self._map_is_complete = False
        #: Of the records that stay, up to `position`.
        self._max_timestamp = NO_TIMESTAMP
        self._bytes_since_index = 0

    def advance(self, data: bytes) -> Replacement | None:
        """Takes whole batches from the one at `position`; no data means that none is left."""
        if self._map_is_complete:
            return self._filter(data)
        self._add_to_map(data)
        return None

    # ---- the offset map

    def _add_to_map(self, data: bytes) -> None:
        stats = self.stats
        is_full = False
        for batch in batches_in(data):
            if batch.attributes & TRANSACTIONAL and self._has_no_keys(batch):
                stats.map_bytes_read += batch.size_bytes
                self.position = batch.last_offset + 1
                continue
            opened = self._open(batch)
            is_full = not self._map.has_room(1 if opened is None else batch.count)
            if is_full:
                break
            if opened is None:
                self._map.add_unreadable(batch.last_offset)
            else:
                self._map.add(opened[1])
            stats.map_bytes_read += batch.size_bytes
            self.position = batch.last_offset + 1
        if is_full or not data or self.position >= self.end_offset:
            if is_full:
                self.end_offset = self.position
            stats.buffer_utilization = self._map.utilization
            self._map.complete()
            self._map_is_complete = True
            self.position = self._plan.log_start_offset

    def _has_no_keys(self, batch: RecordBatch) -> bool:
        return bool(batch.attributes & CONTROL) or self._transactions.is_aborted(batch)

    # ---- the filter

    def _filter(self, data: bytes) -> Replacement | None:
        batches: list[bytes | memoryview] = []
        indexed: list[tuple[int, int]] = []
        first_offset = last_offset = -1
        # Batches after the last one that changes are not replaced.
        batches_end = indexed_end = 0
        for batch in batches_in(data):
            self.position = batch.last_offset + 1
            filtered = self._filtered(batch)
            is_changed = filtered is not batch.buffer
            if is_changed and first_offset < 0:
                first_offset = batch.base_offset
            if filtered is not None:
                entry = self._count(RecordBatch(memoryview(filtered)))
                if first_offset >= 0:
                    batches.append(filtered)
                    indexed += entry
            if is_changed:
                last_offset = batch.last_offset
                batches_end, indexed_end = len(batches), len(indexed)
        self.is_done = not data or self.position >= self.end_offset
        if first_offset < 0:
            return None
        return Replacement(first_offset, last_offset, batches[:batches_end], indexed[:indexed_end])

    def _filtered(self, batch: RecordBatch) -> bytes | memoryview | None:
        """The batch itself if nothing changes; None if it goes."""
        stats, plan = self.stats, self._plan
        stats.messages_read += batch.count
        stats.bytes_read += batch.size_bytes
        if batch.attributes & TRANSACTIONAL:
            if batch.attributes & CONTROL:
                return self._filtered_marker(batch)
            self._transactions.read(batch)
            if self._transactions.is_aborted(batch):
                return self._without_records(batch)
        is_dirty = batch.base_offset >= plan.first_dirty_offset
        newest = self._map.newest_between(batch.base_offset, batch.last_offset)
        if is_dirty and not newest:
            return self._without_records(batch)
        opened = None
        if not is_dirty:
            opened = self._open(batch)
        elif not self._map.is_unreadable(batch.last_offset):
            opened = self._open(batch, newest)
        if opened is None:
            stats.unreadable_batches += 1
            return batch.buffer
        payload, records = opened
        stays = self._map.newest(records)
        horizon = batch.delete_horizon
        if horizon is not None and horizon <= plan.now_ms and not stats.unreadable_batches:
            for one in records.tombstones:
                stays[one] = False
        if not any(stays):
            return self._without_records(batch)
        if horizon is None and any(stays[one] for one in records.tombstones):
            horizon = min(plan.now_ms + plan.delete_retention_ms, LONG_MAX)
        elif len(stays) == batch.count and all(stays):
            return batch.buffer
        _, compress, checksum = self._codecs
        try:
            return rewritten(batch, payload, stays, horizon, compress, checksum)
        except InvalidRecord:
            stats.unreadable_batches += 1
            return batch.buffer

    def _filtered_marker(self, marker: RecordBatch) -> bytes | memoryview | None:
        plan = self._plan
        ends_nothing = self._transactions.end(marker)
        if not marker.count:
            return self._without_records(marker)
        opened = self._open(marker)
        if opened is None:
            self.stats.unreadable_batches += 1
            return marker.buffer
        horizon = marker.delete_horizon
        if not ends_nothing or (horizon is not None and horizon > plan.now_ms):
            return marker.buffer
        if horizon is not None:
            return self._without_records(marker)
        horizon = min(plan.now_ms + plan.delete_retention_ms, LONG_MAX)
        _, compress, checksum = self._codecs
        return rewritten(marker, opened[0], [True], horizon, compress, checksum)

    def _without_records(self, batch: RecordBatch) -> bytes | memoryview | None:
        plan = self._plan
        has_last_sequence = (
            batch.producer_id != NO_PRODUCER_ID
            and plan.producers.get(batch.producer_id) == batch.last_offset
        ) or (
            batch.attributes & CONTROL
            and plan.marker_epochs.get(batch.producer_id) == batch.producer_epoch
        )
        if not has_last_sequence and batch.last_offset + 1 != plan.first_uncleanable_offset:
            return None
        return emptied(batch, self._codecs.checksum) if batch.count else batch.buffer

    def _count(self, batch: RecordBatch) -> list[tuple[int, int]]:
        """Counts a batch that stays; returns the entry of the timestamp index that is due."""
        stats = self.stats
        stats.messages_written += batch.count
        stats.bytes_written += batch.size_bytes
        self._bytes_since_index += batch.size_bytes
        if batch.count:
            self._max_timestamp = max(self._max_timestamp, batch.max_timestamp)
        if self._bytes_since_index < INDEX_INTERVAL_BYTES or self._max_timestamp < 0:
            return []
        self._bytes_since_index = 0
        return [(self._max_timestamp, batch.last_offset)]

    def _open(
        self, batch: RecordBatch, newest: list[int] | None = None
    ) -> tuple[bytes, Records] | None:
        """All records, or those with the newest offsets; None if the batch cannot be opened."""
        count = batch.count
        try:
            batch.check_crc(self._codecs.checksum)
            payload = self._codecs.open_batch(batch)
            if newest is not None and len(newest) < count == batch.last_offset_delta + 1:
                bounds, first = record_bounds(payload, count), batch.base_offset
                pieces = [payload[bounds[o - first] : bounds[o - first + 1]] for o in newest]
                payload, count = b"".join(pieces), len(newest)
            records = read_records(payload, batch.base_offset, batch.last_offset_delta, count)
        except (CorruptMessage, InvalidRecord):
            return None
        return payload, records
