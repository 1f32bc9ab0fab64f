"""Partition: the rules of one log. Where the next batch goes, who may append it, what is visible.

    end       moves when a batch is appended, as the producers do, and when records are deleted
    durable   follows when the commit that holds the batch is done; consumers see this one

Between the two a batch has its offset but is not visible: so pipelined appends and retries of a
batch that is not yet durable are judged rightly, and a consumer never reads what a crash could
still take back.
"""

from __future__ import annotations

from domain.cluster.nodes import NO_LEADER, Leader
from domain.configs.topic import TopicConfig
from domain.errors import (
    FencedLeaderEpoch,
    InvalidTimestamp,
    MessageTooLarge,
    OffsetOutOfRange,
    PolicyViolation,
    StorageFailed,
    UnknownLeaderEpoch,
)
from domain.messages.batch import (
    CHECKSUM_START,
    CODEC_MASK,
    CODEC_ZSTD,
    CONTROL,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    Checksum,
    RecordBatch,
    corrupt,
    validation_error,
)
from domain.partitions.leader_epochs import UNKNOWN_END, EpochEnd, LeaderEpochs
from domain.partitions.log_end import LogEnd
from domain.partitions.producers import (
    AppendedBatch,
    LookUp,
    Producers,
    ProducerState,
    no_snapshot,
)
from domain.partitions.traffic import Traffic

#: In place of an offset up to which records are to be deleted.
UP_TO_HIGH_WATERMARK = -1

#: The timestamp index gets at most one entry for so many bytes of log.
INDEX_INTERVAL_BYTES = 64 * 1024
#: A restart reads again at the most the headers of so many bytes of log,
SNAPSHOT_INTERVAL_BYTES = 8 * 1024 * 1024
#: where a header counts as so many bytes more: no more than a thousand of them.
HEADER_READ_BYTES = 8 * 1024
#: In place of how much was appended since the last snapshot.
SNAPSHOT_ASKED_FOR = 1 << 62


class Appended:
    """Where a batch went; for a retry, where it went the first time."""

    __slots__ = ("base_offset", "duplicate", "indexed_timestamp", "last_offset", "log_append_time")

    def __init__(
        self,
        base_offset: int,
        last_offset: int,
        log_append_time: int,
        indexed_timestamp: int,
        duplicate: bool,
    ) -> None:
        self.base_offset = base_offset
        self.last_offset = last_offset
        self.log_append_time = log_append_time
        self.indexed_timestamp = indexed_timestamp
        self.duplicate = duplicate


class PartitionSnapshot:
    """What a restart would otherwise have to learn from every header of the log."""

    __slots__ = ("end", "leader_epochs", "producers")

    def __init__(
        self, end: LogEnd, leader_epochs: LeaderEpochs, producers: list[ProducerState]
    ) -> None:
        self.end = end
        self.leader_epochs = leader_epochs
        #: Those that have changed since the snapshot before.
        self.producers = producers


class Partition:
    __slots__ = (
        "_bytes_since_index",
        "broken",
        "bytes_since_snapshot",
        "config",
        "durable",
        "end",
        "index",
        "leader",
        "leader_epochs",
        "partition_id",
        "producers",
        "topic",
        "traffic",
    )  # fmt: skip

    producers: Producers
    end: LogEnd
    durable: LogEnd
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
        self.durable = LogEnd()
        self.restore(None)

    # ---- appending

    def append(self, batch: RecordBatch, now_ms: int, checksum: Checksum) -> Appended:
        """Gives the batch its place, or says where its first try went; raises what it refuses."""
        config = self.config
        size_bytes = batch.length + LENGTH_OVERHEAD_BYTES
        if size_bytes > config.max_message_bytes:
            raise MessageTooLarge(
                f"The record batch size in the append to {self.topic}-{self.index} is {size_bytes} "
                f"bytes which exceeds the maximum configured value of {config.max_message_bytes}."
            )
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
                return _appended_before(duplicate)
        log_append_time = NO_TIMESTAMP
        if config.log_append_time:
            log_append_time = max(now_ms, self.end.max_timestamp)
            batch.stamp(log_append_time, checksum)
        batch.set_offset(self.end.next_offset, self.leader.epoch)
        return self._advance(batch, log_append_time)

    def adopt(self, batch: RecordBatch) -> Appended:
        """A batch of another log, as it lies there: it was checked when it came in."""
        batch.set_offset(self.end.next_offset, self.leader.epoch)
        return self._advance(batch)

    def _advance(self, batch: RecordBatch, log_append_time: int = NO_TIMESTAMP) -> Appended:
        base_offset = batch.base_offset
        last_offset = base_offset + batch.last_offset_delta
        size_bytes = batch.length + LENGTH_OVERHEAD_BYTES
        indexed_timestamp = NO_TIMESTAMP
        end = self.end
        end.next_offset = last_offset + 1
        end.appended_bytes += size_bytes
        end.size_bytes += size_bytes
        self.bytes_since_snapshot += size_bytes + HEADER_READ_BYTES
        self._bytes_since_index += size_bytes
        if batch.max_timestamp > end.max_timestamp:
            end.max_timestamp = batch.max_timestamp
            end.max_timestamp_offset = last_offset
        # Also where timestamps do not rise: the entry moves on, and no search reads all that again.
        if self._bytes_since_index >= INDEX_INTERVAL_BYTES and end.max_timestamp >= 0:
            indexed_timestamp = end.max_timestamp
            self._bytes_since_index = 0
        if batch.producer_id >= 0:
            self.producers.record(batch)
        return Appended(base_offset, last_offset, log_append_time, indexed_timestamp, False)

    # ---- what is visible

    @property
    def high_watermark(self) -> int:
        return self.durable.next_offset

    @property
    def last_stable_offset(self) -> int:
        """Below it no transaction is open; there are none yet."""
        return self.durable.next_offset

    @property
    def log_start_offset(self) -> int:
        """Where the log starts for consumers; `end.start_offset` once that is durable."""
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
        """Refuses a client whose metadata is of another leader epoch (KIP-320)."""
        if epoch > self.leader.epoch:
            raise UnknownLeaderEpoch("The client knows a newer leader epoch than the broker")
        if epoch < self.leader.epoch:
            raise FencedLeaderEpoch(
                self.leader, "The client's leader epoch is older than the broker's"
            )

    def epoch_end(self, epoch: int) -> EpochEnd:
        """Where a leader epoch ends, for consumers that look for lost records.

        Of the latest one Kafka returns the log end; here that may still be lost with its commit.
        """
        found = self.leader_epochs.end_of(epoch, self.durable.next_offset)
        if found is UNKNOWN_END:
            return found
        return found._replace(end_offset=max(found.end_offset, self.durable.start_offset))

    # ---- deleting from the front

    def delete_records(self, offset: int) -> bool:
        """Moves the log start up to an offset; False where it is, or is about to be, there.

        Seen once a commit has kept it, like all else. A snapshot goes with that: what lies below
        may be removed from then on, and a restart no longer learns from it.
        """
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
        if offset <= self.end.start_offset:
            return False
        self.end.start_offset = offset
        self.ask_for_snapshot()
        return True

    def trimmed(self, removed_bytes: int) -> None:
        """Batches below the log start are removed in the next commit."""
        self.end.size_bytes -= removed_bytes
        self.ask_for_snapshot()

    def ask_for_snapshot(self) -> None:
        """The next commit takes one, as when enough was appended."""
        self.bytes_since_snapshot = SNAPSHOT_ASKED_FOR

    # ---- starting again

    def restore(self, snapshot: PartitionSnapshot | None, look_up: LookUp = no_snapshot) -> None:
        """Forgets everything and starts from a snapshot; `replay` brings what came after it.

        Producers that are not in `snapshot` are looked up when they come.
        """
        traffic = self.traffic
        traffic.next_offset = max(traffic.next_offset, self.durable.next_offset)
        self.durable = snapshot.end if snapshot else LogEnd()
        self.end = self.durable.copy()
        self.leader_epochs = snapshot.leader_epochs if snapshot else LeaderEpochs()
        #: Why the partition has to be rebuilt from the store, which is done when it is next used.
        self.broken: StorageFailed | None = None
        self.bytes_since_snapshot = 0
        # How far back the last index entry lies is not known: the next timestamp gets one.
        self._bytes_since_index = INDEX_INTERVAL_BYTES
        self.producers = Producers(self.producers, look_up)
        for state in snapshot.producers if snapshot else ():
            self.producers.restore(state)

    def replay(self, header: bytes) -> None:
        """A committed batch, by its header, through the code that appends."""
        batch = RecordBatch(memoryview(header))
        if batch.producer_id >= 0 and batch.producer_id not in self.producers:
            self.producers.recall(batch.producer_id)
        self.leader_epochs.begin(batch.leader_epoch, batch.base_offset)
        self._advance(batch)
        self._bytes_since_index = INDEX_INTERVAL_BYTES
        self.durable = self.end.copy()

    def lead(self, leader: Leader) -> None:
        """From now on batches are appended in the epoch of this leader, which is here."""
        self.leader = leader
        self.leader_epochs.begin(leader.epoch, self.end.next_offset)

    def snapshot(self) -> PartitionSnapshot:
        """Of the log end: to be staged with, or after, the batches that led there."""
        self.bytes_since_snapshot = 0
        self.leader_epochs.trim(self.end.start_offset)
        return PartitionSnapshot(self.end.copy(), self.leader_epochs, self.producers.changed())


def _appended_before(duplicate: AppendedBatch) -> Appended:
    return Appended(
        duplicate.base_offset, duplicate.last_offset, duplicate.timestamp, NO_TIMESTAMP, True
    )
