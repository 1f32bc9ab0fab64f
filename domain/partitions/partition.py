"""Partition: the rules of one log: offsets of batches, idempotent producers, visible records.

    end       moves when a batch is appended, like the producer states, or records are deleted
    durable   follows when the commit is done; consumers see this one

Between the two a batch has its offset but is not visible: retries and pipelined batches are checked
against it, and a consumer never reads a batch that a crash could undo.
"""

from __future__ import annotations

from domain.cluster.nodes import NO_LEADER, Leader
from domain.configs.topic import TopicConfig
from domain.errors import (
    InvalidTimestamp,
    InvalidTxnState,
    MessageTooLarge,
    OffsetOutOfRange,
    PolicyViolation,
    StorageFailed,
)
from domain.messages.batch import (
    CHECKSUM_START,
    CODEC_MASK,
    CODEC_ZSTD,
    CONTROL,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    Checksum,
    RecordBatch,
    corrupt,
    validation_error,
)
from domain.messages.control import EndMarker, end_marker
from domain.partitions.active_segment import EMPTY_SEGMENT, ActiveSegment
from domain.partitions.appended import Appended, repeated
from domain.partitions.leader_epochs import UNKNOWN_END, EpochEnd, LeaderEpochs, check_leader_epoch
from domain.partitions.log_end import LogEnd
from domain.partitions.producers import LookUp, Producers, no_snapshot
from domain.partitions.snapshot import NOT_CLEANED, Cleaned, PartitionSnapshot
from domain.partitions.traffic import Traffic
from domain.partitions.transactions import Transactions

#: DeleteRecords with this offset deletes all records.
UP_TO_HIGH_WATERMARK = -1

#: Bytes of log per entry of the timestamp index.
INDEX_INTERVAL_BYTES = 64 * 1024
#: A restart reads the headers of at most so many bytes of log,
SNAPSHOT_INTERVAL_BYTES = 8 * 1024 * 1024
#: where each header counts as so many more: at most a thousand headers.
HEADER_READ_BYTES = 8 * 1024
#: As bytes since the last snapshot: the next commit takes one.
SNAPSHOT_REQUESTED = 1 << 62


class Partition:
    __slots__ = (
        "_bytes_since_index",
        "broken",
        "bytes_since_snapshot",
        "cleaned",
        "config",
        "durable",
        "end",
        "index",
        "leader",
        "leader_epochs",
        "partition_id",
        "producers",
        "segment",
        "topic",
        "traffic",
        "transactions",
        "trimmed_bytes",
    )  # fmt: skip

    producers: Producers
    end: LogEnd
    durable: LogEnd
    segment: ActiveSegment
    cleaned: Cleaned
    transactions: Transactions
    bytes_since_snapshot: int
    _bytes_since_index: int

    def __init__(self, partition_id: int, topic: str, index: int, config: TopicConfig) -> None:
        self.partition_id = partition_id
        self.topic = topic
        self.index = index
        self.config = config
        self.leader = NO_LEADER
        self.producers = Producers()
        self.traffic = Traffic()
        #: Since the partition was loaded first.
        self.trimmed_bytes = 0
        self.durable = LogEnd()
        self.restore(None)

    # ---- appending

    def append(self, batch: RecordBatch, now_ms: int, checksum: Checksum) -> Appended:
        """Assigns offsets to the batch, or returns those of the first attempt."""
        config = self.config
        size_bytes = batch.length + LENGTH_OVERHEAD_BYTES
        if size_bytes > config.max_message_bytes:
            raise self.too_large(batch)
        if checksum(batch.buffer[CHECKSUM_START:]) != batch.crc:
            raise corrupt()
        attributes = batch.attributes
        if (
            batch.base_offset
            or batch.count != batch.last_offset_delta + 1
            or batch.count <= 0
            or attributes & (CONTROL | LOG_APPEND_TIME)
            or attributes & CODEC_MASK > CODEC_ZSTD
            or (batch.producer_id >= 0 and batch.base_sequence < 0)
        ):
            raise validation_error(batch)
        if not config.log_append_time and (
            batch.max_timestamp - now_ms > config.timestamp_after_max_ms
        ):
            raise InvalidTimestamp(
                "One or more records have been rejected due to invalid timestamp"
            )
        if batch.producer_id >= 0:
            duplicate = self.producers.find_duplicate(batch)
            if duplicate is not None:
                return repeated(duplicate)
            if self.end.first_unstable is not None and not attributes & TRANSACTIONAL:
                self._check_is_outside_transaction(batch)
        log_append_time = NO_TIMESTAMP
        if config.log_append_time:
            log_append_time = max(now_ms, self.end.max_timestamp)
            batch.stamp(log_append_time, checksum)
        batch.set_offset(self.end.next_offset, self.leader.epoch)
        return self._advance(batch, log_append_time)

    def too_large(self, batch: RecordBatch) -> MessageTooLarge:
        return MessageTooLarge(
            f"The record batch size in the append to {self.topic}-{self.index} is "
            f"{batch.size_bytes} bytes which exceeds the maximum configured value of "
            f"{self.config.max_message_bytes}."
        )

    def _check_is_outside_transaction(self, batch: RecordBatch) -> None:
        if batch.producer_id in self.transactions:
            raise InvalidTxnState(
                f"Expected transactional write from producer {batch.producer_id} at offset "
                f"{self.end.next_offset} in partition {self.topic}-{self.index}"
            )

    def append_marker(
        self, marker: EndMarker, now_ms: int, checksum: Checksum, transaction_version: int
    ) -> tuple[RecordBatch, Appended]:
        """Ends the transaction that the producer has here, if any."""
        self.producers.check_marker(
            marker, marker.producer_id in self.transactions, transaction_version
        )
        batch = end_marker(marker, now_ms, checksum)
        if self.config.log_append_time:
            batch.stamp(max(now_ms, self.end.max_timestamp), checksum)
        appended = self.adopt(batch)
        self.producers.set_coordinator_epoch(marker)
        return batch, appended

    def adopt(self, batch: RecordBatch) -> Appended:
        """Appends a batch of another log, which was checked before."""
        batch.set_offset(self.end.next_offset, self.leader.epoch)
        return self._advance(batch)

    def adopt_as_it_is(self, batch: RecordBatch) -> Appended:
        """Appends a batch of another log with its offsets and leader epoch; there may be gaps."""
        if batch.producer_id >= 0 and batch.producer_id not in self.producers:
            self.producers.recall(batch.producer_id)
        self.leader_epochs.begin(batch.leader_epoch, batch.base_offset)
        return self._advance(batch)

    def _advance(self, batch: RecordBatch, log_append_time: int = NO_TIMESTAMP) -> Appended:
        base_offset = batch.base_offset
        last_offset = base_offset + batch.last_offset_delta
        size_bytes = batch.length + LENGTH_OVERHEAD_BYTES
        indexed_timestamp, begins_segment = NO_TIMESTAMP, False
        end = self.end
        end.next_offset = last_offset + 1
        end.appended_bytes += size_bytes
        end.size_bytes += size_bytes
        self.bytes_since_snapshot += size_bytes + HEADER_READ_BYTES
        self._bytes_since_index += size_bytes
        segment = self.segment
        if (
            batch.max_timestamp > segment.ends_at_timestamp
            or end.appended_bytes > segment.ends_at_bytes
        ):
            segment.extend(batch, end.appended_bytes, self.config)
            begins_segment = segment.base_offset == base_offset
        if batch.max_timestamp > end.max_timestamp:
            end.max_timestamp = batch.max_timestamp
            end.max_timestamp_offset = last_offset
        # Also if timestamps do not rise, so that searches can skip these batches. Not without a
        # timestamp: retention removes such a batch with a later one.
        if self._bytes_since_index >= INDEX_INTERVAL_BYTES and batch.max_timestamp >= 0:
            indexed_timestamp = end.max_timestamp
            self._bytes_since_index = 0
        if batch.producer_id >= 0:
            if batch.attributes & TRANSACTIONAL:
                self._record_transactional(batch)
            else:
                self.producers.record(batch)
        return Appended(
            base_offset, last_offset, log_append_time, indexed_timestamp, False, begins_segment
        )

    def _record_transactional(self, batch: RecordBatch) -> None:
        if batch.attributes & CONTROL:
            self.producers.end_transaction(batch)
            self.transactions.end(batch.producer_id)
        else:
            self.producers.record(batch)
            if batch.count:  # else compaction has removed its records, and maybe the marker
                self.transactions.begin(
                    batch.producer_id, batch.base_offset, self.end.appended_bytes - batch.size_bytes
                )
        self.end.first_unstable = self.transactions.oldest

    # ---- visible state

    @property
    def high_watermark(self) -> int:
        return self.durable.next_offset

    @property
    def last_stable_offset(self) -> int:
        """READ_COMMITTED consumers read up to here."""
        durable = self.durable
        if durable.first_unstable is None:
            return durable.next_offset
        return max(durable.first_unstable.first_offset, durable.start_offset)

    @property
    def log_start_offset(self) -> int:
        """The log start for consumers; `end.start_offset` may not be durable yet."""
        return self.durable.start_offset

    def committed(self, end: LogEnd) -> bool:
        """Returns True if consumers can now see new records or a new log start."""
        before = self.durable
        self.durable = end
        self.traffic.bytes_in += end.appended_bytes - before.appended_bytes
        return end.next_offset != before.next_offset or end.start_offset != before.start_offset

    def check_readable(self, offset: int) -> None:
        durable = self.durable
        if offset < durable.start_offset or offset > durable.next_offset:
            raise OffsetOutOfRange(
                f"Offset {offset} of {self.topic}-{self.index} is not within "
                f"{durable.start_offset} and {durable.next_offset}"
            )

    def check_leader_epoch(self, epoch: int) -> None:
        check_leader_epoch(self.leader, epoch)

    def epoch_end(self, epoch: int) -> EpochEnd:
        """The end offset of a leader epoch.

        For the latest epoch Kafka returns the log end; here the high watermark, because staged
        batches may still be lost.
        """
        found = self.leader_epochs.end_of(epoch, self.durable.next_offset)
        if found is UNKNOWN_END:
            return found
        return found._replace(end_offset=max(found.end_offset, self.durable.start_offset))

    def diverging_epoch(self, fetched_epoch: int, offset: int) -> EpochEnd | None:
        """Where the epoch of a client's last record ends, if that record is not of this log."""
        found = self.epoch_end(fetched_epoch)
        if found is UNKNOWN_END:
            raise OffsetOutOfRange(f"{self.topic}-{self.index} has no leader epoch {fetched_epoch}")
        diverges = found.leader_epoch < fetched_epoch or found.end_offset < offset
        # Below the log start `check_readable` raises.
        return found if diverges and offset >= self.durable.start_offset else None

    def configure(self, config: TopicConfig) -> None:
        self.config = config
        self.segment.limit(config)

    # ---- removing records

    def delete_records(self, offset: int) -> bool:
        """Moves the log start for a client, as `move_log_start` does."""
        if not self.config.deletes:
            raise PolicyViolation(
                f"Records of partition {self.topic}-{self.index} can not be deleted due to the "
                "configured policy"
            )
        if offset == UP_TO_HIGH_WATERMARK:
            offset = self.high_watermark
        if not 0 <= offset <= self.high_watermark:
            raise OffsetOutOfRange(
                f"The offset {offset} for partition {self.topic}-{self.index} is not valid"
            )
        return self.move_log_start(offset)

    def move_log_start(self, offset: int) -> bool:
        """Up to an offset that is not above the high watermark; False if it is there already.

        Visible after the next commit, which takes a snapshot, too: the headers below may be removed
        from then on.
        """
        if offset <= self.end.start_offset:
            return False
        self.end.start_offset = offset
        self.request_snapshot()
        return True

    def trimmed(self, removed_bytes: int) -> None:
        """Batches below the log start are removed in the next commit."""
        self.end.size_bytes -= removed_bytes
        self.trimmed_bytes += removed_bytes
        cleaned = self.cleaned
        self.cleaned = cleaned._replace(size_bytes=max(cleaned.size_bytes - removed_bytes, 0))
        self.request_snapshot()

    def compacted(self, grown_bytes: int) -> None:
        """Batches are replaced in the next commit, with a snapshot: a restart reads no headers of
        batches that were not appended.
        """
        self.end.size_bytes += grown_bytes
        self.request_snapshot()

    def cleaned_up_to(self, next_offset: int, size_bytes: int) -> None:
        """A pass of compaction is done, with the next commit; it left this many bytes."""
        self.cleaned = Cleaned(next_offset, size_bytes)
        self.request_snapshot()

    def request_snapshot(self) -> None:
        """The next commit takes a snapshot."""
        self.bytes_since_snapshot = SNAPSHOT_REQUESTED

    # ---- recovery

    def restore(self, snapshot: PartitionSnapshot | None, look_up: LookUp = no_snapshot) -> None:
        """Resets the state to a snapshot; `replay` adds later batches.

        Producers that are not in `snapshot` are looked up at their first batch.
        """
        traffic = self.traffic
        traffic.next_offset = max(traffic.next_offset, self.durable.next_offset)
        self.durable = snapshot.end if snapshot else LogEnd()
        self.transactions = snapshot.transactions if snapshot else Transactions()
        self.durable.first_unstable = self.transactions.oldest
        self.end = self.durable.copy()
        self.cleaned = snapshot.cleaned if snapshot else NOT_CLEANED
        segment = snapshot.segment if snapshot else EMPTY_SEGMENT
        self.segment = ActiveSegment(segment, self.end.appended_bytes, self.config)
        self.leader_epochs = snapshot.leader_epochs if snapshot else LeaderEpochs()
        #: Why the partition must be recovered at its next use.
        self.broken: StorageFailed | None = None
        self.bytes_since_snapshot = 0
        # The last index entry is unknown: the next batch adds one.
        self._bytes_since_index = INDEX_INTERVAL_BYTES
        self.producers = Producers(self.producers, look_up)
        for state in snapshot.producers if snapshot else ():
            self.producers.restore(state)
        for one in self.transactions:
            self.producers.recall(one.producer_id, expires=False)

    def replay(self, header: bytes) -> None:
        """Applies a committed batch by its header."""
        batch = RecordBatch(memoryview(header))
        if batch.producer_id >= 0 and batch.producer_id not in self.producers:
            self.producers.recall(batch.producer_id)
        self.leader_epochs.begin(batch.leader_epoch, batch.base_offset)
        self._advance(batch)
        if batch.attributes & CONTROL:  # the header does not say whether it aborts
            self.transactions.last_aborted_offset = batch.last_offset
        self._bytes_since_index = INDEX_INTERVAL_BYTES
        self.durable = self.end.copy()

    def lead(self, leader: Leader) -> None:
        """This node is the leader, with this epoch."""
        self.leader = leader
        self.leader_epochs.begin(leader.epoch, self.end.next_offset)

    def snapshot(self) -> PartitionSnapshot:
        """A snapshot of `end`, to be staged with its batches or later."""
        self.bytes_since_snapshot = 0
        self.leader_epochs.trim(self.end.start_offset)
        return PartitionSnapshot(
            self.end.copy(),
            self.leader_epochs,
            self.producers.changed(),
            self.segment.state(self.end.appended_bytes),
            self.cleaned,
            self.transactions,
        )
