"""Clone: copies a topic, with or without its records.

Batches are copied in order as they are stored: compressed, with keys, headers and timestamps. They
get new offsets, and no producer id: sequence numbers are valid in one log only. Of transactions the
committed records are copied; a copy ends at the last stable offset. One broker copies them, in its
memory: where several lead the partitions, a client does it (`ottla topic clone`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import NamedTuple

from application.background.job import END_OF_COMMIT, Job, Outcome
from application.background.loaded import loaded
from application.background.runner import Runner
from application.partitions.adopting import adopt
from application.partitions.opened_batch import open_messages
from application.ports.checksum import Checksum
from application.ports.compression import Compression
from application.ports.log_store import LogStore, NotInMemory
from application.ports.pending import Pending
from application.ports.placement import Placement
from application.ports.request_log import NO_CLIENT, Requester
from application.ports.transaction_index import TransactionIndex
from application.state.catalog import Catalog
from application.state.commits import Commits
from application.topics.create import Created, CreateTopicsService, NewTopic
from application.topics.delete import DeleteTopicsService
from domain.errors import (
    BrokerError,
    InvalidRequest,
    NotLeaderOrFollower,
    UnknownTopicOrPartition,
)
from domain.messages.batch import CONTROL, RecordBatch, batches_in, next_offset
from domain.messages.building import build_batch, without_producer
from domain.partitions.partition import Partition
from domain.partitions.transactions import AbortedTransaction
from domain.topics.topic import Topic

SEVERAL_BROKERS = (
    "With several brokers use `ottla topic clone`, which copies records over the wire: "
    "none of them leads all partitions of both topics"
)

#: Per commit: read, copied and staged in about a millisecond.
BYTES_PER_SLICE = 256 * 1024


class Cloned(NamedTuple):
    """The progress of a copy."""

    records: int
    bytes: int
    done: bool


class CloneService:
    def __init__(
        self,
        catalog: Catalog,
        placement: Placement,
        create: CreateTopicsService,
        delete: DeleteTopicsService,
        log: LogStore,
        transaction_index: TransactionIndex,
        commits: Commits,
        compression: Compression,
        checksum: Checksum,
        background: Runner,
    ) -> None:
        self.catalog = catalog
        self._placement = placement
        self._create = create
        self._delete = delete
        self.log = log
        self.transaction_index = transaction_index
        self.commits = commits
        self.compression = compression
        self.checksum = checksum
        self.background = background

    def create(
        self,
        source_name: str,
        name: str,
        configs: Mapping[str, str | None],
        by: Requester = NO_CLIENT,
        with_records: bool = False,
    ) -> list[Created] | Pending[list[Created]]:
        """Creates the topic. `configs` replace those of its source; None removes one.

        May raise NotInMemory (`ClusterChanges.check`).
        """
        source = self.catalog.topic(source_name)
        if source is None:
            raise UnknownTopicOrPartition(f"There is no topic {source_name}")
        if with_records and len(self._placement.nodes()) > 1:
            raise InvalidRequest(SEVERAL_BROKERS)
        merged = {**source.configs, **configs}
        present = {key: value for key, value in merged.items() if value is not None}
        return self._create.create(
            [NewTopic(name, len(source.partition_ids), configs=present)], False, by
        )

    def remove(self, incomplete: Topic) -> None:
        """Deletes a copy."""
        # Without a callback, a fault of the job would not be logged.
        self.background.run(self._remove(incomplete)).then(lambda _: None)

    def _remove(self, incomplete: Topic) -> Job[None]:
        yield from loaded(partial(self._stage_removal, incomplete))

    def _stage_removal(self, incomplete: Topic) -> None:
        found = self._delete.find(None, incomplete.topic_id)
        if isinstance(found, Topic):
            self._delete.delete([found])

    def copy(self, source_name: str, target: Topic) -> Copying:
        """Copies the records that are committed by now; each `next` copies one slice.

        Raises NotInMemory if a partition is used for the first time.
        """
        source = self.catalog.topic(source_name)
        if source is None:
            raise UnknownTopicOrPartition(f"There is no topic {source_name}")
        if self.catalog.topic_by_id(target.topic_id) is None:
            raise UnknownTopicOrPartition(f"{target.name} was deleted")
        self.catalog.partitions(product((source, target), range(len(target.partition_ids))))
        pairs = []
        for index in range(len(target.partition_ids)):
            try:
                of_source = self.catalog.loaded_now(source, index)
                of_target = self.catalog.loaded_now(target, index)
            except NotLeaderOrFollower as elsewhere:
                raise InvalidRequest(SEVERAL_BROKERS) from elsewhere
            if of_source is None or of_target is None:
                raise InvalidRequest("The topics have different numbers of partitions")
            pairs.append((of_source, of_target))
        return Copying(self, pairs)


class Copying:
    def __init__(self, service: CloneService, pairs: list[tuple[Partition, Partition]]) -> None:
        self._service = service
        self._left = [
            (source, target, source.last_stable_offset)
            for source, target in pairs
            if source.last_stable_offset > source.log_start_offset
        ]
        self._position = -1
        self.total = sum(end - source.log_start_offset for source, _, end in self._left)
        self._records = 0
        self._bytes = 0

    def next(self) -> Pending[Cloned | BrokerError]:
        """Copies a slice; resolved when it is durable."""
        return self._service.background.run(self._next())

    def _next(self) -> Job[Cloned | BrokerError]:
        while True:
            try:
                self._slice()
                break
            except BrokerError as refused:
                return refused.as_value()
            except NotInMemory as later:
                yield later.loading
        failure: Outcome = yield END_OF_COMMIT
        return failure or Cloned(self._records, self._bytes, not self._left)

    def _slice(self) -> None:
        if not self._left:
            return
        source, target, end = self._left[0]
        for one in (source, target):
            if not self._service.catalog.holds(one):
                self._refuse(one)
        if target.broken is not None:
            raise target.broken
        start = max(self._position, source.log_start_offset)
        data = self._service.log.read(source.partition_id, start, end, BYTES_PER_SLICE, True)
        if not self._service.commits.storage_health.admits(len(data)):
            raise self._service.commits.storage_health.refusal()
        aborted: list[AbortedTransaction] = []
        if start <= source.transactions.last_aborted_offset:
            aborted = self._service.transaction_index.overlapping(
                source.partition_id, start, next_offset(data)
            )
        for batch in batches_in(data):
            self._position = batch.last_offset + 1
            if batch.attributes & CONTROL or any(one.has(batch) for one in aborted):
                continue
            copied = self._copy_of(batch, start)
            if copied is not None:
                self._append(copied, target)
        if not data or self._position >= end:
            del self._left[0]
            self._position = -1

    def _refuse(self, partition: Partition) -> None:
        unavailable = self._service.catalog.unavailable_error
        if isinstance(unavailable(partition.partition_id, partition.topic), NotLeaderOrFollower):
            raise InvalidRequest(SEVERAL_BROKERS)
        raise UnknownTopicOrPartition("One of the topics was deleted")

    def _copy_of(self, batch: RecordBatch, start: int) -> RecordBatch | None:
        if not batch.count:  # compaction left it for its producer, which the copy does not have
            return None
        if batch.base_offset >= start:
            copied = RecordBatch(memoryview(bytearray(batch.buffer)))
            without_producer(copied, self._service.checksum)
            return copied
        # A copy must not restore the deleted records of a batch.
        messages = [
            message
            for message in open_messages(batch, self._service.compression)
            if message.offset >= start
        ]
        if not messages:
            return None
        rebuilt = build_batch(
            messages, self._service.checksum, batch.codec, self._service.compression.compress
        )
        return RecordBatch(memoryview(rebuilt))

    def _append(self, batch: RecordBatch, target: Partition) -> None:
        adopt(self._service.log, self._service.commits, target, batch)
        self._records += batch.count
        self._bytes += batch.size_bytes
