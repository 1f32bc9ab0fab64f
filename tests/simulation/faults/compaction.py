"""Faults of compaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from application.background.job import Job
from application.partitions import compaction, log_cleaner
from application.partitions.log_cleaner import LogCleaner
from application.ports.log_store import NotInMemory
from domain.compaction import rewriting
from domain.compaction.cleaner import Cleaner, CleaningPlan, Replacement
from domain.compaction.log_to_clean import LogToClean, log_to_clean
from domain.compaction.offset_map import OffsetMap
from domain.compaction.records import Records
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition
from domain.partitions.snapshot import NOT_CLEANED, PartitionSnapshot

Patch = pytest.MonkeyPatch

# ---- what stays


def newest_record_of_a_key_is_removed(patch: Patch) -> None:
    newest = OffsetMap.newest

    def greedy(self: OffsetMap, records: Records) -> list[bool]:
        return [False, *newest(self, records)[1:]]

    patch.setattr(OffsetMap, "newest", greedy)


def older_records_of_a_key_stay(patch: Patch) -> None:
    patch.setattr(OffsetMap, "newest", lambda self, records: [True] * len(records.offsets))


def active_segment_is_compacted(patch: Patch) -> None:
    def greedy(partition: Partition) -> LogToClean:
        end = partition.durable.next_offset
        return log_to_clean(partition)._replace(first_uncleanable_offset=end, cleanable_bytes=1)

    patch.setattr(compaction, "log_to_clean", greedy)


def log_behind_a_full_map_is_clean(patch: Patch) -> None:
    add = Cleaner._add_to_map

    def hasty(self: Cleaner, data: bytes) -> None:
        end_offset = self.end_offset
        add(self, data)
        self.end_offset = end_offset

    patch.setattr(Cleaner, "_add_to_map", hasty)


def tombstones_have_no_retention(patch: Patch) -> None:
    def impatient(*plan: Any) -> CleaningPlan:
        return CleaningPlan(*plan)._replace(delete_retention_ms=0)

    patch.setattr(log_cleaner, "CleaningPlan", impatient)


def tombstones_go_before_their_delete_horizon(patch: Patch) -> None:
    def ahead(*plan: Any) -> CleaningPlan:
        return CleaningPlan(*plan)._replace(now_ms=1 << 50)

    patch.setattr(log_cleaner, "CleaningPlan", ahead)


def last_sequence_of_a_producer_is_removed(patch: Patch) -> None:
    patch.setattr(Cleaner, "_without_records", lambda self, batch: None)


def rewritten_batch_ends_at_its_last_record(patch: Patch) -> None:
    write = rewriting._with

    def shorter(batch: RecordBatch, *fields: Any) -> bytes:
        batch.last_offset_delta = max(fields[3] - 1, 0)
        return write(batch, *fields)

    patch.setattr(rewriting, "_with", shorter)


# ---- commits


def pass_goes_on_after_a_failed_commit(patch: Patch) -> None:
    replace = LogCleaner._replace

    def stubborn(self: LogCleaner, partition: Partition, replacement: Replacement) -> Job[bool]:
        yield from replace(self, partition, replacement)
        return True

    patch.setattr(LogCleaner, "_replace", stubborn)
    patch.setattr(LogCleaner, "_goes_on", lambda self, partition: self._catalog.holds(partition))


def first_dirty_offset_is_not_persisted(patch: Patch) -> None:
    snapshot = Partition.snapshot

    def without(self: Partition) -> PartitionSnapshot:
        whole = snapshot(self)
        whole.cleaned = NOT_CLEANED
        return whole

    patch.setattr(Partition, "snapshot", without)


def replaced_batches_without_a_snapshot(patch: Patch) -> None:
    """A restart reads the headers of batches that were not appended."""

    def quiet(self: Partition, grown_bytes: int) -> None:
        self.end.size_bytes += grown_bytes

    patch.setattr(Partition, "compacted", quiet)


def size_ignores_compaction(patch: Patch) -> None:
    compacted = Partition.compacted
    patch.setattr(Partition, "compacted", lambda self, grown_bytes: compacted(self, 0))


def replacement_that_waits_is_skipped(patch: Patch) -> None:
    stage = LogCleaner._stage

    def hasty(self: LogCleaner, *args: Any) -> bool:
        try:
            return stage(self, *args)
        except NotInMemory:
            return False

    patch.setattr(LogCleaner, "_stage", hasty)


COMPACTION: list[Callable[[Patch], None]] = [
    newest_record_of_a_key_is_removed,
    older_records_of_a_key_stay,
    active_segment_is_compacted,
    log_behind_a_full_map_is_clean,
    tombstones_have_no_retention,
    tombstones_go_before_their_delete_horizon,
    last_sequence_of_a_producer_is_removed,
    rewritten_batch_ends_at_its_last_record,
    pass_goes_on_after_a_failed_commit,
    first_dirty_offset_is_not_persisted,
    replaced_batches_without_a_snapshot,
    size_ignores_compaction,
    replacement_that_waits_is_skipped,
]
