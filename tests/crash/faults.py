"""Faults that are patched into a child before it serves, to show that the ledger finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from application.groups.offsets import Offsets
from application.state.commits import Commits, Done
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition, PartitionSnapshot
from domain.partitions.producers import AppendedBatch, Producers
from domain.topics.topic import Topic
from infrastructure.storage.lmdb.log_store import LmdbLogStore
from infrastructure.storage.repositories.cluster_repository import StoredClusterRepository
from infrastructure.storage.repositories.offset_repository import StoredOffsetRepository
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository


def answers_before_the_commit() -> None:
    wait = Commits.wait

    def hasty(self: Commits, then: Done) -> None:
        wait(self, lambda failure: None)
        then(None)

    Commits.wait = hasty  # type: ignore[method-assign]


def keeps_the_last_batch_for_the_next_commit() -> None:
    append = LmdbLogStore.append
    kept: list[tuple[Any, ...]] = []

    def late(self: LmdbLogStore, partition_id: int, last: int, batch: Any, time: int = -1) -> None:
        kept.append((self, partition_id, last, bytes(batch), time))
        if len(kept) > 1:
            append(*kept.pop(0))

    LmdbLogStore.append = late  # type: ignore[assignment, method-assign]


def commits_batch_by_batch() -> None:
    append = LmdbLogStore.append

    def torn(self: LmdbLogStore, *arguments: Any) -> None:
        append(self, *arguments)
        self._pass.commit()

    LmdbLogStore.append = torn  # type: ignore[assignment, method-assign]


def shows_what_waits_for_a_commit() -> None:
    def lingers(self: Commits) -> None:
        if not self._asked_for_pass and not self._under_way:
            self._asked_for_pass = True
            self._scheduler.after_ms(20, self._begin)

    Commits._ask = lingers  # type: ignore[method-assign]
    Partition.high_watermark = property(lambda self: self.end.next_offset)  # type: ignore[assignment]


def forgets_producers_at_a_start() -> None:
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


def takes_snapshots_of_what_is_to_come() -> None:
    snapshot = Partition.snapshot

    def ahead(self: Partition) -> PartitionSnapshot:
        found = snapshot(self)
        found.end.next_offset += 1
        return found

    Partition.snapshot = ahead  # type: ignore[method-assign]


def forgets_where_logs_start() -> None:
    restore = Partition.restore

    def forgetful(self: Partition, *given: Any) -> None:
        restore(self, *given)
        self.end.start_offset = self.durable.start_offset = 0

    Partition.restore = forgetful  # type: ignore[method-assign]


def deletes_without_a_snapshot() -> None:
    Partition.ask_for_snapshot = lambda self: None  # type: ignore[method-assign]


def appends_retries_again() -> None:
    find = Producers.find_duplicate

    def blind(self: Producers, batch: RecordBatch) -> AppendedBatch | None:
        find(self, batch)
        return None

    Producers.find_duplicate = blind  # type: ignore[method-assign]


def gives_producer_ids_again() -> None:
    StoredClusterRepository.reserve_producer_ids = (  # type: ignore[method-assign]
        lambda self, next_producer_id: None
    )


def gives_partition_ids_again() -> None:
    def reserve(self: StoredTopicRepository, count: int) -> tuple[int, ...]:
        first = self._next_partition_id
        self._next_partition_id += count
        return tuple(range(first, first + count))

    StoredTopicRepository.reserve_partition_ids = reserve  # type: ignore[method-assign]


def does_not_keep_deletions() -> None:
    StoredTopicRepository.delete = lambda self, topic: None  # type: ignore[method-assign]


def does_not_keep_growth() -> None:
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


def answers_commits_of_offsets_at_once() -> None:
    persist = Offsets.persist

    def hasty(self: Offsets, group_id: str, writes: Any, then: Any) -> None:
        persist(self, group_id, writes, lambda failure: None)
        then(None)

    Offsets.persist = hasty  # type: ignore[method-assign]


def keeps_offsets_in_memory_only() -> None:
    def forgetful(self: StoredOffsetRepository, writes: Any, done: Any) -> None:
        self._when_committed(done)

    StoredOffsetRepository.apply = forgetful  # type: ignore[method-assign]


def keeps_half_of_a_commit() -> None:
    apply = StoredOffsetRepository.apply

    def half(self: StoredOffsetRepository, writes: Any, done: Any) -> None:
        apply(self, writes[: len(writes) // 2 + 1], done)

    StoredOffsetRepository.apply = half  # type: ignore[method-assign]


#: Each with the points at which it shows; an empty one is a plain SIGKILL.
FAULTS: dict[str, tuple[Callable[[], None], tuple[str, ...]]] = {
    fault.__name__: (fault, points)
    for fault, points in (
        (answers_before_the_commit, ("batch: before the commit",)),
        (keeps_the_last_batch_for_the_next_commit, ("all answers of a pass are sent",)),
        (commits_batch_by_batch, ("batch: staged, again",)),
        (shows_what_waits_for_a_commit, ("batch: before the commit",)),
        (forgets_producers_at_a_start, ("",)),
        (leaves_producers_out_of_snapshots, ("snapshot: committed, nobody told",)),
        (takes_snapshots_of_what_is_to_come, ("snapshot: committed, nobody told",)),
        (forgets_where_logs_start, ("",)),
        (deletes_without_a_snapshot, ("last trimmed slice: committed, nobody told", "")),
        (appends_retries_again, ("",)),
        (gives_producer_ids_again, ("",)),
        (gives_partition_ids_again, ("deletion: committed, nobody told", "")),
        (does_not_keep_deletions, ("",)),
        (does_not_keep_growth, ("",)),
        (leaves_the_data_of_deleted_topics, ("deletion: committed, nobody told",)),
        (answers_commits_of_offsets_at_once, ("offsets: before the commit",)),
        (keeps_offsets_in_memory_only, ("",)),
        (keeps_half_of_a_commit, ("",)),
    )
}
