"""Faults of the start of a log: forgotten, told too early, overrun, and left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from application.background.runner import Runner
from application.partitions import list_offsets
from application.partitions.delete_records import DeleteRecordsService, RecordsToDelete
from application.partitions.trimming import Trimming
from application.ports.pending import Pending, resolved
from domain.partitions.log_end import LogEnd
from domain.partitions.partition import Partition
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository

Patch = pytest.MonkeyPatch


def start_is_forgotten_at_a_restart(patch: Patch) -> None:
    restore = Partition.restore

    def forgetful(self: Partition, *given: Any) -> None:
        restore(self, *given)
        self.end.start_offset = self.durable.start_offset = 0

    patch.setattr(Partition, "restore", forgetful)


def deletion_comes_without_a_snapshot(patch: Patch) -> None:
    """Once the batches are gone, a restart does not know where the log ended."""
    patch.setattr(Partition, "request_snapshot", lambda self: None)


def start_moves_before_its_commit(patch: Patch) -> None:
    delete = Partition.delete_records

    def hasty(self: Partition, offset: int) -> bool:
        moved = delete(self, offset)
        self.durable.start_offset = self.end.start_offset
        return moved

    patch.setattr(Partition, "delete_records", hasty)


def deletion_is_told_before_its_commit(patch: Patch) -> None:
    delete = DeleteRecordsService.delete

    def hasty(self: DeleteRecordsService, wanted: list[RecordsToDelete]) -> Pending[Any]:
        later = delete(self, wanted)
        if later.resolved:
            return later
        return resolved([self._catalog.existing_partition(w.topic, w.index).end.start_offset
                         for w in wanted])  # fmt: skip

    patch.setattr(DeleteRecordsService, "delete", hasty)


def start_goes_back(patch: Patch) -> None:
    def obedient(self: Partition, offset: int) -> bool:
        self.end.start_offset = min(max(offset, 0), self.high_watermark)
        self.request_snapshot()
        return True

    patch.setattr(Partition, "delete_records", obedient)


def what_is_not_deleted_is_removed(patch: Patch) -> None:
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


def unfinished_removal_is_forgotten_at_a_restart(patch: Patch) -> None:
    patch.setattr(StoredPartitionRepository, "trimming", lambda self: [])


def size_does_not_follow(patch: Patch) -> None:
    trimmed = Partition.trimmed
    patch.setattr(Partition, "trimmed", lambda self, removed_bytes: trimmed(self, 0))


def deleted_records_are_found_by_time(patch: Patch) -> None:
    first_in = list_offsets._first_in
    patch.setattr(
        list_offsets,
        "_first_in",
        lambda batch, timestamp, first, compression: first_in(batch, timestamp, 0, compression),
    )


def start_that_has_moved_once_stays(patch: Patch) -> None:
    committed = Partition.committed

    def still(self: Partition, end: LogEnd) -> bool:
        end.start_offset = self.durable.start_offset or end.start_offset
        return committed(self, end)

    patch.setattr(Partition, "committed", still)


def job_believes_that_its_commit_succeeded(patch: Patch) -> None:
    run = Runner._slice
    patch.setattr(Runner, "_slice", lambda self, result, outcome=None: run(self, result))


STARTS: list[Callable[[Patch], None]] = [
    start_is_forgotten_at_a_restart,
    deletion_comes_without_a_snapshot,
    start_moves_before_its_commit,
    deletion_is_told_before_its_commit,
    start_goes_back,
    what_is_not_deleted_is_removed,
    unfinished_removal_is_forgotten_at_a_restart,
    size_does_not_follow,
    deleted_records_are_found_by_time,
    start_that_has_moved_once_stays,
    job_believes_that_its_commit_succeeded,
]
