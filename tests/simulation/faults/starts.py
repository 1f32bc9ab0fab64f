"""Faults of log start offsets and trimming."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from application.background.runner import Runner
from application.partitions import list_offsets
from application.partitions.delete_records import DeleteRecordsService, RecordsToDelete
from application.partitions.retention import RetentionService
from application.partitions.trimming import Trimming
from application.ports.log_store import NotInMemory
from application.ports.pending import Pending, resolved
from domain.messages.batch import RecordBatch
from domain.partitions.log_end import LogEnd
from domain.partitions.partition import Partition
from domain.partitions.retention import Oldest, Retention, front_of
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository

Patch = pytest.MonkeyPatch


def log_start_is_lost_at_a_restart(patch: Patch) -> None:
    restore = Partition.restore

    def forgetful(self: Partition, *args: Any) -> None:
        restore(self, *args)
        self.end.start_offset = self.durable.start_offset = 0

    patch.setattr(Partition, "restore", forgetful)


def deletion_without_a_snapshot(patch: Patch) -> None:
    """Without the batches a restart does not know the log end offset."""
    patch.setattr(Partition, "request_snapshot", lambda self: None)


def log_start_moves_before_its_commit(patch: Patch) -> None:
    delete = Partition.delete_records

    def hasty(self: Partition, offset: int) -> bool:
        moved = delete(self, offset)
        self.durable.start_offset = self.end.start_offset
        return moved

    patch.setattr(Partition, "delete_records", hasty)


def deletion_response_before_its_commit(patch: Patch) -> None:
    delete = DeleteRecordsService.delete

    def hasty(
        self: DeleteRecordsService, requested: list[RecordsToDelete], *by: Any
    ) -> Pending[Any]:
        later = delete(self, requested, *by)
        if later.resolved:
            return later
        return resolved([self._catalog.existing_partition(one.topic, one.index).end.start_offset
                         for one in requested])  # fmt: skip

    patch.setattr(DeleteRecordsService, "delete", hasty)


def log_start_decreases(patch: Patch) -> None:
    def obedient(self: Partition, offset: int) -> bool:
        self.end.start_offset = min(max(offset, 0), self.high_watermark)
        self.request_snapshot()
        return True

    patch.setattr(Partition, "delete_records", obedient)


def live_records_are_removed(patch: Patch) -> None:
    stage = Trimming._stage

    def greedy(self: Trimming, partition: Partition) -> bool:
        log = self._log

        class Greedy:
            def trim(self, partition_id: int, offset: int, most: int) -> Any:
                return log.trim(partition_id, offset + 1, most)

        self._log = Greedy()  # type: ignore[assignment]
        try:
            return stage(self, partition)
        finally:
            self._log = log

    patch.setattr(Trimming, "_stage", greedy)


def unfinished_trimming_is_lost_at_a_restart(patch: Patch) -> None:
    patch.setattr(StoredPartitionRepository, "trimming", lambda self: [])


def size_ignores_trimming(patch: Patch) -> None:
    trimmed = Partition.trimmed
    patch.setattr(Partition, "trimmed", lambda self, removed_bytes: trimmed(self, 0))


def deleted_records_are_found_by_time(patch: Patch) -> None:
    first_in = list_offsets._first_in
    patch.setattr(
        list_offsets,
        "_first_in",
        lambda batch, timestamp, first, compression: first_in(batch, timestamp, 0, compression),
    )


def log_start_moves_only_once(patch: Patch) -> None:
    committed = Partition.committed

    def still(self: Partition, end: LogEnd) -> bool:
        end.start_offset = self.durable.start_offset or end.start_offset
        return committed(self, end)

    patch.setattr(Partition, "committed", still)


def job_does_not_see_a_failed_commit(patch: Patch) -> None:
    run = Runner._slice
    patch.setattr(Runner, "_slice", lambda self, result, outcome=None: run(self, result))


def retention_removes_the_batch_that_stays(patch: Patch) -> None:
    add = Retention.add

    def greedy(self: Retention, batch: RecordBatch) -> bool:
        more = add(self, batch)
        if self.expired is not None and not more:
            self.expired = self.expired._replace(offset=batch.last_offset + 1)
        return more

    patch.setattr(Retention, "add", greedy)


def retention_does_not_see_deleted_records(patch: Patch) -> None:
    """The first batch that stays is remembered also after it was deleted."""
    look = RetentionService._look

    def stubborn(self: RetentionService, topic: Any, index: int, known: Oldest | None) -> Any:
        partition = self._catalog.loaded_partition(topic, index)
        if known is not None and partition is not None:
            known = known._replace(front=front_of(partition))
        return look(self, topic, index, known)

    patch.setattr(RetentionService, "_look", stubborn)


def trimming_that_waits_is_forgotten(patch: Patch) -> None:
    stage = Trimming._stage

    def hasty(self: Trimming, *args: Any) -> bool | None:
        try:
            return stage(self, *args)
        except NotInMemory:
            return None

    patch.setattr(Trimming, "_stage", hasty)


STARTS: list[Callable[[Patch], None]] = [
    log_start_is_lost_at_a_restart,
    deletion_without_a_snapshot,
    log_start_moves_before_its_commit,
    deletion_response_before_its_commit,
    log_start_decreases,
    live_records_are_removed,
    unfinished_trimming_is_lost_at_a_restart,
    size_ignores_trimming,
    deleted_records_are_found_by_time,
    log_start_moves_only_once,
    job_does_not_see_a_failed_commit,
    retention_removes_the_batch_that_stays,
    retention_does_not_see_deleted_records,
    trimming_that_waits_is_forgotten,
]
