"""The small files of a folder of Apache Kafka, as bytes."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from domain.partitions.producers import ProducerState
from domain.partitions.transactions import AbortedTransaction
from domain.topics.topic import text_of_id
from infrastructure.codecs.checksum import crc32c

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
META_PROPERTIES = "meta.properties"
BOOTSTRAP = "bootstrap.checkpoint"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

#: Version, CRC-32C of the rest, number of producers.
_SNAPSHOT_HEAD = Struct(">hI")
_COUNT = Struct(">i")
_SNAPSHOT_VERSION = 1
#: Producer id, epoch, last sequence, last offset, offset delta of the last batch, timestamp,
#: coordinator epoch, first offset of the open transaction.
_PRODUCER = Struct(">qhiqiqiq")
#: Version, producer id, first and last offset, last stable offset.
_ABORTED = Struct(">hqqqq")
_NONE = -1


def checkpoint(rows: Iterable[str]) -> bytes:
    lines = list(rows)
    return "".join(f"{line}\n" for line in ("0", str(len(lines)), *lines)).encode()


def partition_metadata(topic_id: bytes) -> bytes:
    return f"version: 0\ntopic_id: {text_of_id(topic_id)}".encode()


def producer_snapshot(producers: Iterable[ProducerState]) -> bytes:
    """Of producers without an open transaction."""
    rows = [_producer(state) for state in producers]
    content = _COUNT.pack(len(rows)) + b"".join(rows)
    return _SNAPSHOT_HEAD.pack(_SNAPSHOT_VERSION, crc32c(memoryview(content))) + content


def _producer(state: ProducerState) -> bytes:
    sequence = last_offset = _NONE
    delta = 0
    if state.batches:
        last = state.batches[-1]
        sequence, last_offset = last.last_sequence, last.last_offset
        delta = last.last_offset - last.base_offset
    return _PRODUCER.pack(
        state.producer_id,
        state.epoch,
        sequence,
        last_offset,
        delta,
        state.last_timestamp,
        state.coordinator_epoch,
        _NONE,
    )


def aborted_transaction(aborted: AbortedTransaction) -> bytes:
    """An entry of a transaction index."""
    return _ABORTED.pack(
        0,
        aborted.producer_id,
        aborted.first_offset,
        aborted.last_offset,
        aborted.last_stable_offset,
    )
