"""Faults that are patched into a child before it serves, to show that the ledger finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from application.groups.offsets import Offsets
from application.state.commits import Commits, Done
from application.streams.stream import RawStream
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition
from domain.partitions.producers import AppendedBatch, Producers
from domain.partitions.snapshot import PartitionSnapshot
from domain.streams.chunk import Chunk
from domain.topics.topic import Topic
from infrastructure.storage.lmdb.log_store import LmdbLogStore
from infrastructure.storage.repositories.cluster_repository import StoredClusterRepository
from infrastructure.storage.repositories.offset_repository import StoredOffsetRepository
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
from tests.crash.transaction_faults import TRANSACTION_FAULTS


def hasty(wait: Callable[[Commits, Done], None]) -> Callable[[Commits, Done], None]:
    """In place of `Commits.wait`."""

    def at_once(self: Commits, then: Done) -> None:
        wait(self, lambda failure: None)
        then(None)

    return at_once


def responds_before_the_commit() -> None:
    Commits.wait = hasty(Commits.wait)  # type: ignore[assignment, method-assign]


def delays_the_last_batch_to_the_next_commit() -> None:
    append = LmdbLogStore.append
    delayed: list[tuple[Any, ...]] = []

    def late(self: LmdbLogStore, partition_id: int, last: int, batch: Any, *rest: Any) -> None:
        delayed.append((self, partition_id, last, bytes(batch), *rest))
        if len(delayed) > 1:
            append(*delayed.pop(0))

    LmdbLogStore.append = late  # type: ignore[assignment, method-assign]


def commits_batch_by_batch() -> None:
    append = LmdbLogStore.append

    def torn(self: LmdbLogStore, *arguments: Any) -> None:
        append(self, *arguments)
        self._pass.commit()

    LmdbLogStore.append = torn  # type: ignore[assignment, method-assign]


def delays_commits() -> None:
    def lingers(self: Commits) -> None:
        if not self._is_scheduled and not self._under_way:
            self._is_scheduled = True
            self._scheduler.after_ms(5, self._begin)

    Commits._schedule = lingers  # type: ignore[method-assign]


def shows_uncommitted_records() -> None:
    delays_commits()
    Partition.high_watermark = property(lambda self: self.end.next_offset)  # type: ignore[assignment]


def loses_producers_at_start() -> None:
    recover = StoredPartitionRepository.recover

    def forgetful(
        self: StoredPartitionRepository, partition: Partition, waits: bool = True
    ) -> None:
        recover(self, partition, waits)
        partition.producers = Producers()

    StoredPartitionRepository.recover = forgetful  # type: ignore[method-assign]


def leaves_producers_out_of_snapshots() -> None:
    def snapshot(self: Partition) -> PartitionSnapshot:
        self.bytes_since_snapshot = 0
        return PartitionSnapshot(self.end.copy(), self.leader_epochs, [])

    Partition.snapshot = snapshot  # type: ignore[method-assign]


def takes_snapshots_beyond_the_log_end() -> None:
    snapshot = Partition.snapshot

    def ahead(self: Partition) -> PartitionSnapshot:
        found = snapshot(self)
        found.end.next_offset += 1
        return found

    Partition.snapshot = ahead  # type: ignore[method-assign]


def loses_log_start_offsets() -> None:
    restore = Partition.restore

    def forgetful(self: Partition, *args: Any) -> None:
        restore(self, *args)
        self.end.start_offset = self.durable.start_offset = 0

    Partition.restore = forgetful  # type: ignore[method-assign]


def deletes_without_a_snapshot() -> None:
    Partition.request_snapshot = lambda self: None  # type: ignore[method-assign]


def appends_duplicates() -> None:
    find = Producers.find_duplicate

    def blind(self: Producers, batch: RecordBatch) -> AppendedBatch | None:
        find(self, batch)
        return None

    Producers.find_duplicate = blind  # type: ignore[method-assign]


def assigns_producer_ids_twice() -> None:
    StoredClusterRepository.reserve_producer_ids = (  # type: ignore[method-assign]
        lambda self, next_producer_id: None
    )


def assigns_partition_ids_twice() -> None:
    def reserve(self: StoredTopicRepository, count: int) -> tuple[int, ...]:
        first = self._next_partition_id
        self._next_partition_id += count
        return tuple(range(first, first + count))

    StoredTopicRepository.reserve_partition_ids = reserve  # type: ignore[method-assign]


def does_not_persist_deletions() -> None:
    StoredTopicRepository.delete = lambda self, topic: None  # type: ignore[method-assign]


def does_not_persist_new_partitions() -> None:
    save = StoredTopicRepository.save

    def once(self: StoredTopicRepository, topic: Topic) -> None:
        if self._state.get("topics", topic.name.encode()) is None:
            save(self, topic)

    StoredTopicRepository.save = once  # type: ignore[method-assign]


def leaves_the_data_of_deleted_topics() -> None:
    def delete(self: StoredTopicRepository, topic: Topic) -> None:
        self._state.put("topics", topic.name.encode(), None)

    StoredTopicRepository.delete = delete  # type: ignore[method-assign]
    StoredTopicRepository.doomed_partitions = lambda self: []  # type: ignore[method-assign]
    LmdbLogStore.drop = lambda self, partition_id, max_batches: True  # type: ignore[method-assign]


def acknowledges_offsets_before_the_commit() -> None:
    persist = Offsets.persist

    def hasty(self: Offsets, group_id: str, writes: Any, then: Any) -> None:
        persist(self, group_id, writes, lambda failure: None)
        then(None)

    Offsets.persist = hasty  # type: ignore[method-assign]


def does_not_persist_offsets() -> None:
    def forgetful(self: StoredOffsetRepository, writes: Any, done: Any) -> None:
        self._when_committed(done)

    StoredOffsetRepository.apply = forgetful  # type: ignore[method-assign]


def persists_half_of_an_offset_commit() -> None:
    apply = StoredOffsetRepository.apply

    def half(self: StoredOffsetRepository, writes: Any, done: Any) -> None:
        apply(self, writes[: len(writes) // 2 + 1], done)

    StoredOffsetRepository.apply = half  # type: ignore[method-assign]


#: Each with the points at which it shows; an empty one is a plain SIGKILL.
FAULTS: dict[str, tuple[Callable[[], None], tuple[str, ...]]] = {
    fault.__name__: (fault, points)
    for fault, points in (
        (responds_before_the_commit, ("batch: before the commit",)),
        (delays_the_last_batch_to_the_next_commit, ("all responses of a pass are sent",)),
        (commits_batch_by_batch, ("batch: staged, again",)),
        (shows_uncommitted_records, ("batch: before the commit",)),
        (loses_producers_at_start, ("",)),
        (leaves_producers_out_of_snapshots, ("snapshot: committed, no response sent",)),
        (takes_snapshots_beyond_the_log_end, ("snapshot: committed, no response sent",)),
        (loses_log_start_offsets, ("",)),
        (deletes_without_a_snapshot, ("last trimmed slice: committed, no response sent", "")),
        (appends_duplicates, ("",)),
        (assigns_producer_ids_twice, ("",)),
        (assigns_partition_ids_twice, ("deletion: committed, no response sent", "")),
        (does_not_persist_deletions, ("",)),
        (does_not_persist_new_partitions, ("",)),
        (leaves_the_data_of_deleted_topics, ("deletion: committed, no response sent",)),
        (acknowledges_offsets_before_the_commit, ("offsets: before the commit",)),
        (does_not_persist_offsets, ("",)),
        (persists_half_of_an_offset_commit, ("",)),
    )
}


def sends_positions_before_the_commit() -> None:
    stage = RawStream._stage

    def hasty(self: RawStream, chunks: list[Chunk], next_offset: int) -> None:
        stage(self, chunks, next_offset)
        for chunk in chunks:
            appended = self._appended.pop(chunk.first_offset, None)
            if appended is not None:
                appended.by.placed(appended.records, chunk.positions())

    delays_commits()  # so that positions leave the process before
    RawStream._stage = hasty  # type: ignore[method-assign]


#: Of raw streams, with the points at which they show.
RAW_FAULTS: dict[str, tuple[Callable[[], None], str]] = {
    fault.__name__: (fault, point)
    for fault, point in ((sends_positions_before_the_commit, "positions: before the commit"),)
}


def fault(name: str) -> Callable[[], None]:
    if name in RAW_FAULTS:
        return RAW_FAULTS[name][0]
    return (FAULTS[name] if name in FAULTS else TRANSACTION_FAULTS[name])[0]
