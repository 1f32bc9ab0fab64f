"""Faults of the log: storage, search by timestamp, producers, failed reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from application.background.runner import Runner
from application.partitions import list_offsets
from application.partitions.fetch import FetchService
from application.partitions.fetch_query import FetchedPartition
from application.partitions.list_offsets import ListOffsetsService
from application.state.catalog import Catalog
from application.state.commits import Commits
from domain.errors import StorageFailed
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.partitions.appended import Appended
from domain.partitions.partition import Partition
from domain.partitions.producers import Producers, ProducerState
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from tests.simulation.timeline import Callback, Event, ProcessLoop

Patch = pytest.MonkeyPatch

# ---- storage


def checksum_is_not_checked(patch: Patch) -> None:
    append = Partition.append

    def trusting(self: Partition, batch: RecordBatch, now_ms: int, checksum: Any) -> Appended:
        crc = batch.crc
        return append(self, batch, now_ms, lambda data: crc)

    patch.setattr(Partition, "append", trusting)


def log_append_time_drops_the_codec(patch: Patch) -> None:
    stamp = RecordBatch.stamp

    def careless(self: RecordBatch, time_ms: int, checksum: Any) -> None:
        self.attributes = LOG_APPEND_TIME
        stamp(self, time_ms, checksum)

    patch.setattr(RecordBatch, "stamp", careless)


def log_append_time_decreases_with_the_clock(patch: Patch) -> None:
    append = Partition.append

    def following(self: Partition, batch: RecordBatch, now_ms: int, checksum: Any) -> Appended:
        before, self.end.max_timestamp = self.end.max_timestamp, -1
        try:
            return append(self, batch, now_ms, checksum)
        finally:
            self.end.max_timestamp = max(before, self.end.max_timestamp)

    patch.setattr(Partition, "append", following)


def timers_use_the_wall_clock(patch: Patch) -> None:
    """When the clock is set back, timers are late."""

    def by_the_wall(self: ProcessLoop, delay_ms: int, callback: Callback) -> Event:
        timeline = self._timeline
        due_ms = timeline.now_ms() + delay_ms
        whole = Event(0, callback)

        def look() -> None:
            left_ms = due_ms - timeline.now_ms()
            if self.alive and whole.callback is not None:
                if left_ms > 0:
                    timeline.after(left_ms, look)
                else:
                    callback()

        timeline.after(delay_ms, look)
        return whole

    patch.setattr(ProcessLoop, "after_ms", by_the_wall)


# ---- search by timestamp


def search_does_not_open_batches(patch: Patch) -> None:
    patch.setattr(list_offsets, "_first_in", lambda batch, *_: list_offsets._at_start_of(batch))


def index_has_the_timestamp_of_the_batch(patch: Patch) -> None:
    advance = Partition._advance

    def own(self: Partition, batch: RecordBatch, *time: int) -> Appended:
        appended = advance(self, batch, *time)
        if appended.indexed_timestamp >= 0:
            appended.indexed_timestamp = batch.max_timestamp
        return appended

    patch.setattr(Partition, "_advance", own)


def long_search_is_abandoned(patch: Patch) -> None:
    complete = ListOffsetsService.complete

    def lazy(self: ListOffsetsService, searches: Any) -> None:
        pending = complete(self, searches)
        if pending is not None:
            pending.abandon()

    patch.setattr(ListOffsetsService, "complete", lazy)


def background_jobs_do_not_continue(patch: Patch) -> None:
    patch.setattr(Runner, "_turn", lambda self: None)


# ---- producers


def changed_producer_is_not_in_the_snapshot(patch: Patch) -> None:
    changed = Producers.changed
    patch.setattr(Producers, "changed", lambda self: changed(self)[1:])


def producers_are_not_looked_up(patch: Patch) -> None:
    def forgetful(self: Producers, producer_id: int) -> ProducerState | None:
        return None

    patch.setattr(Producers, "recall", forgetful)


def expired_producers_stay_in_memory(patch: Patch) -> None:
    patch.setattr(Producers, "expire", lambda self, before, spared: 0)


def expired_producers_stay_in_the_store(patch: Patch) -> None:
    patch.setattr(StoredPartitionRepository, "forget_silent", lambda *_: None)


# ---- failed reads


def unreadable_partition_is_returned_as_empty(patch: Patch) -> None:
    read = FetchService._read_partition

    def blind(self: FetchService, *args: Any) -> FetchedPartition:
        one = read(self, *args)
        known = one.item.partition
        if isinstance(one.error, StorageFailed) and known is not None:
            end = known.high_watermark
            return FetchedPartition(one.item, None, end, end, 0)
        return one

    patch.setattr(FetchService, "_read_partition", blind)


def unreadable_partition_is_reset(patch: Patch) -> None:
    recover = StoredPartitionRepository.recover

    def hopeful(self: StoredPartitionRepository, partition: Partition, waits: bool = True) -> None:
        try:
            recover(self, partition, waits)
        except StorageFailed:
            partition.restore(None)

    patch.setattr(StoredPartitionRepository, "recover", hopeful)


def unreadable_partition_raises_another_exception(patch: Patch) -> None:
    recover = Catalog._recover

    def careless(self: Catalog, partition: Partition, waits: bool, *epoch: int) -> None:
        try:
            recover(self, partition, waits, *epoch)
        except StorageFailed as failure:
            raise RuntimeError("unexpected") from failure

    patch.setattr(Catalog, "_recover", careless)


# ---- commits


def commits_overlap(patch: Patch) -> None:
    ask = Commits._schedule

    def eager(self: Commits) -> None:
        under_way, self._under_way = self._under_way, False
        ask(self)
        self._under_way = under_way

    patch.setattr(Commits, "_schedule", eager)


def response_with_an_earlier_commit(patch: Patch) -> None:
    done = Commits._done

    def hasty(self: Commits, failure: StorageFailed | None) -> None:
        self._in_commit += self._waiters
        self._waiters = []
        done(self, failure)

    patch.setattr(Commits, "_done", hasty)


LOG: list[Callable[[Patch], None]] = [
    checksum_is_not_checked,
    log_append_time_drops_the_codec,
    log_append_time_decreases_with_the_clock,
    timers_use_the_wall_clock,
    search_does_not_open_batches,
    index_has_the_timestamp_of_the_batch,
    long_search_is_abandoned,
    background_jobs_do_not_continue,
    changed_producer_is_not_in_the_snapshot,
    producers_are_not_looked_up,
    expired_producers_stay_in_memory,
    expired_producers_stay_in_the_store,
    unreadable_partition_is_returned_as_empty,
    unreadable_partition_is_reset,
    unreadable_partition_raises_another_exception,
    commits_overlap,
    response_with_an_earlier_commit,
]
