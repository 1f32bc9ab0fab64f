"""`ottla export kafka`: writes a stopped store as a log folder of Apache Kafka 4.

Kafka finds topics by its metadata log, which is written last: an export that was killed leaves a
folder without topics, which has to be formatted again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from domain.configs.broker import BrokerConfig
from domain.configs.resource import ResourceKind
from domain.configs.topic import TopicConfig, resolve_topic_config
from domain.messages.batch import RecordBatch
from domain.messages.building import build_batch
from domain.messages.message import Message
from domain.partitions.leader_epochs import LeaderEpochs
from domain.partitions.partition import Partition
from domain.partitions.producers import ProducerState
from domain.topics.internal_records import Record
from domain.topics.topic import Topic
from domain.transactions.states import NOT_OPEN
from infrastructure.codecs.checksum import crc32c
from infrastructure.kafka_folder import files
from infrastructure.kafka_folder.checkpoints import checkpoint, partition_metadata
from infrastructure.kafka_folder.log_writer import LogWriter
from infrastructure.kafka_folder.producer_snapshot import entry_of, snapshot
from infrastructure.opening import Contents
from infrastructure.storage.engine import Storage
from interfaces.cli.failures import CommandFailed
from interfaces.cli.kafka_export.internal_topics import internal_topics
from interfaces.cli.kafka_export.metadata import other_values, topic_values
from interfaces.cli.kafka_export.target import METADATA, Target, target_at
from interfaces.cli.progress import Progress
from interfaces.cli.storage.opened import NotABatch, batches, opened

_RECORDS_OF_A_BATCH = 500
_METADATA_EPOCH = 1
_SEGMENT_BYTES, _SEGMENT_MS = 1 << 30, 7 * 24 * 3600 * 1000
#: The id of the metadata topic in every cluster.
_METADATA_ID = bytes(15) + b"\1"

T = TypeVar("T")


def export(parsed: argparse.Namespace) -> int:
    with opened(parsed.data) as (storage, found):
        cluster_id = found.cluster.cluster_id()
        if cluster_id is None:
            raise CommandFailed(f"{parsed.data} has no cluster id: start a broker on it once")
        target = target_at(Path(parsed.folder), cluster_id)
        _check(found, target)
        try:
            with Progress("export", storage.info.live_bytes) as progress:
                count = _Export(storage, found, target, progress).run()
        except OSError as failure:
            raise CommandFailed(
                f"{failure.filename or target.folder}: {failure.strerror}; delete {target.folder}, "
                "format it again, and repeat the export"
            ) from None
    print(f"{target.folder}: {count:,} batches")
    return 0


def _check(found: Contents, target: Target) -> None:
    if found.offsets_place is not None:
        raise CommandFailed(
            f"committed offsets are in {found.offsets_place}: return them to the store before, as "
            "docs/storage.md says"
        )
    transactions = found.transactions.load()
    ids = [one.transactional_id for one in transactions if one.state not in NOT_OPEN]
    if ids:
        raise CommandFailed(
            f"open transactions: {len(ids)}, as that of {ids[0]}; end them, or wait for their "
            "timeout, or `ottla txn abort`, before the broker is stopped"
        )
    brokers = {one.name for one in found.configs.load() if one.kind is ResourceKind.BROKER}
    if others := sorted(brokers - {"", str(target.node_id)}):
        raise CommandFailed(
            f"there are configs of broker {others[0]}, and {target.folder} is of node "
            f"{target.node_id}: format it with node.id={others[0]}"
        )


class _Export:
    def __init__(
        self, storage: Storage, found: Contents, target: Target, progress: Progress
    ) -> None:
        self._storage = storage
        self._found = found
        self._target = target
        self._progress = progress
        self._config = BrokerConfig()
        self._values = list(target.bootstrap)
        #: Lines of checkpoints.
        self._ends: list[str] = []
        self._starts: list[str] = []
        self._count = 0

    def run(self) -> int:
        own = {topic.name: topic for topic in self._found.topics.load()}
        for topic, records in internal_topics(self._found, own):
            own.pop(topic.name, None)
            self._internal(topic, records)
        for topic in own.values():
            self._topic(topic)
        self._values += other_values(self._found, self._target)
        folder = self._target.folder
        for name, lines in (
            (files.RECOVERY_POINTS, self._ends),
            (files.HIGH_WATERMARKS, self._ends),
            (files.LOG_STARTS, self._starts),
        ):
            (folder / name).write_bytes(checkpoint(lines))
        (folder / files.CLEAN_SHUTDOWN).write_text('{"version":0,"brokerEpoch":-1}')
        self._metadata()
        return self._count

    # ---- topics

    def _topic(self, topic: Topic) -> None:
        config = resolve_topic_config(topic.configs, self._config)
        epochs = []
        for index, partition_id in enumerate(topic.partition_ids):
            partition = Partition(partition_id, topic.name, index, config)
            self._found.partitions.recover(partition)
            self._partition(partition, topic)
            epochs.append(max(partition.leader_epochs.latest, 0))
        self._values += topic_values(topic, epochs, self._target)

    def _partition(self, partition: Partition, topic: Topic) -> None:
        end, start = partition.end.next_offset, partition.end.start_offset
        log = self._log(topic, partition.index, partition.config, start)
        for batch in self._batches(partition):
            log.append(batch)
            self._progress.step(batch.size_bytes)
            self._count += 1
        partition_id = partition.partition_id
        for aborted in self._found.transaction_index.since(partition_id, 0):
            log.add_aborted(aborted)
        producers = {one.producer_id: one for one in self._found.partitions.producers(partition_id)}
        producers |= {one.producer_id: one for one in partition.producers}
        self._close(log, topic, partition.index, end, partition.leader_epochs, producers.values())
        if start > log.segments[0]:
            self._starts.append(f"{topic.name} {partition.index} {start}")

    def _internal(self, topic: Topic, records: Mapping[int, Sequence[Record]]) -> None:
        """From the rows: the topic of a store only repeats them."""
        config = resolve_topic_config(topic.configs, self._config)
        now_ms = time.time_ns() // 1_000_000
        for index in range(len(topic.partition_ids)):
            log = self._log(topic, index, config)
            end = 0
            for some in in_parts(records.get(index, ())):
                batch = _batch([Message(0, now_ms, *record) for record in some], end, 0)
                log.append(batch)
                end = batch.last_offset + 1
                self._count += 1
            self._close(log, topic, index, end, LeaderEpochs([(0, 0)]), ())
        self._values += topic_values(topic, [0] * len(topic.partition_ids), self._target)

    def _batches(self, partition: Partition) -> Iterator[RecordBatch]:
        start = partition.end.start_offset
        try:
            yield from batches(self._storage.log, partition.partition_id, start)
        except NotABatch as wrong:
            raise CommandFailed(
                f"{partition.topic}-{partition.index}, offset {wrong.offset}: {wrong} "
                "(see `ottla storage verify`)"
            ) from None

    def _log(
        self, topic: Topic, index: int, config: TopicConfig, start_offset: int = 0
    ) -> LogWriter:
        folder = self._target.folder / f"{topic.name}-{index}"
        folder.mkdir()
        return LogWriter(folder, config.segment_bytes, config.largest_segment_ms, start_offset)

    def _close(
        self,
        log: LogWriter,
        topic: Topic,
        index: int,
        end: int,
        epochs: LeaderEpochs,
        producers: Iterable[ProducerState],
    ) -> None:
        log.close(end)
        log.write(files.PARTITION_METADATA, partition_metadata(topic.topic_id))
        log.write(f"{end:020d}.snapshot", snapshot(map(entry_of, producers)))
        lines = (f"{epoch} {first}" for epoch, first in epochs.starts())
        log.write(files.LEADER_EPOCHS, checkpoint(lines))
        self._ends.append(f"{topic.name} {index} {end}")

    # ---- the metadata log

    def _metadata(self) -> None:
        folder = self._target.folder / METADATA
        folder.mkdir(exist_ok=True)
        log = LogWriter(folder, _SEGMENT_BYTES, _SEGMENT_MS)
        now_ms, offset = time.time_ns() // 1_000_000, 0
        for some in in_parts(self._values):
            messages = [Message(0, now_ms, None, value) for value in some]
            log.append(_batch(messages, offset, _METADATA_EPOCH))
            offset += len(some)
        log.close(offset)
        log.write(files.PARTITION_METADATA, partition_metadata(_METADATA_ID))
        log.write(files.LEADER_EPOCHS, checkpoint([f"{_METADATA_EPOCH} 0"]))


def _batch(messages: Sequence[Message], base_offset: int, epoch: int) -> RecordBatch:
    batch = RecordBatch(memoryview(build_batch(messages, crc32c)))
    batch.set_offset(base_offset, epoch)
    return batch


def in_parts(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    return iter(lambda: list(islice(rest, _RECORDS_OF_A_BATCH)), [])
