"""Faults of requests: commits, duplicates, responses, waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from application.partitions.fetch import FetchService
from application.partitions.fetch_query import FetchedPartition
from application.partitions.fetch_sessions import FetchSession, _state
from application.partitions.pending_fetch import DelayedFetch
from application.ports.pending import Pending
from application.state.commits import Commits
from application.state.fetch_purgatory import FetchPurgatory
from domain.errors import StorageFailed
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition
from domain.partitions.producers import AppendedBatch, Producers
from domain.partitions.snapshot import PartitionSnapshot
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from interfaces.connections.limits import ResponseFlusher
from interfaces.kafka.connections.connection import Connection
from interfaces.kafka.connections.session import Session
from interfaces.kafka.handlers import produce
from interfaces.kafka.requests.accounting import RequestAccounting
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.structs import Pieces

Patch = pytest.MonkeyPatch


def early_watermark(patch: Patch) -> None:
    begin = Commits._begin

    def early(self: Commits) -> None:
        for partition in self._touched:
            partition.committed(partition.end.copy())
        begin(self)

    patch.setattr(Commits, "_begin", early)


def watermark_is_the_log_end(patch: Patch) -> None:
    patch.setattr(Partition, "high_watermark", property(lambda self: self.end.next_offset))


def watermark_never_rises_again_after_a_failure(patch: Patch) -> None:
    done = Commits._done

    def stuck(self: Commits, failure: StorageFailed | None) -> None:
        if failure is not None:
            patch.setattr(self, "_ends_are_lost", True, raising=False)
        if getattr(self, "_ends_are_lost", False) and failure is None:
            ends = [one for one in self._in_commit if getattr(one, "func", None) == self._ended]
            self._in_commit = [one for one in self._in_commit if one not in ends]
        done(self, failure)

    patch.setattr(Commits, "_done", stuck)


def response_before_the_commit(patch: Patch) -> None:
    patch.setattr(Commits, "wait", lambda self, then: then(None))


def duplicate_response_before_it_is_durable(patch: Patch) -> None:
    append = produce._append

    def hasty(partition: Any, data: Any, call: Any, durable: Any, *admit: Any) -> Any:
        before = partition.end.next_offset if isinstance(partition, Partition) else None
        response = append(partition, data, call, durable, *admit)
        if response in durable.staged and partition.end.next_offset == before:
            durable.staged.remove(response)
        return response

    patch.setattr(produce, "_append", hasty)


def duplicate_is_appended_twice(patch: Patch) -> None:
    find = Producers.find_duplicate

    def forgetful(self: Producers, batch: RecordBatch) -> AppendedBatch | None:
        find(self, batch)
        return None

    patch.setattr(Producers, "find_duplicate", forgetful)


def sequences_are_not_checked(patch: Patch) -> None:
    patch.setattr(Producers, "find_duplicate", lambda self, batch: None)


def batch_overtakes_a_lost_first_batch(patch: Patch) -> None:
    patch.setattr(Producers, "_check_awaited", lambda self, batch: None)


def recovery_loses_producers(patch: Patch) -> None:
    recover = StoredPartitionRepository.recover

    def lossy(self: StoredPartitionRepository, partition: Partition, waits: bool = True) -> None:
        recover(self, partition, waits)
        partition.producers = Producers()

    patch.setattr(StoredPartitionRepository, "recover", lossy)


def producers_are_not_in_the_snapshot(patch: Patch) -> None:
    def snapshot(self: Partition) -> PartitionSnapshot:
        self.bytes_since_snapshot = 0
        return PartitionSnapshot(self.end.copy(), self.leader_epochs, [])

    patch.setattr(Partition, "snapshot", snapshot)


def reloaded_partition_keeps_its_old_end(patch: Patch) -> None:
    recover = StoredPartitionRepository.recover

    def stubborn(self: StoredPartitionRepository, partition: Partition, waits: bool = True) -> None:
        end = partition.end.next_offset
        recover(self, partition, waits)
        partition.end.next_offset = max(end, partition.end.next_offset)

    patch.setattr(StoredPartitionRepository, "recover", stubborn)


def partition_is_not_reloaded_after_a_failure(patch: Patch) -> None:
    ended = Commits._ended

    def careless(
        self: Commits, partition: Partition, end: Any, failure: StorageFailed | None
    ) -> None:
        if failure is None:
            ended(self, partition, end, failure)

    patch.setattr(Commits, "_ended", careless)


def waiter_is_dropped_after_a_failure(patch: Patch) -> None:
    done = Commits._done

    def careless(self: Commits, failure: StorageFailed | None) -> None:
        if failure is not None:
            self._waiters = []
        done(self, failure)

    patch.setattr(Commits, "_done", careless)


def append_behind_a_failed_commit_is_acknowledged(patch: Patch) -> None:
    done = Commits._done

    def hopeful(self: Commits, failure: StorageFailed | None) -> None:
        behind: list[Any] = []
        if failure is not None:
            behind, self._waiters = self._waiters, []
        done(self, failure)
        for waiter in behind:
            self.wait(waiter)

    patch.setattr(Commits, "_done", hopeful)


def last_response_is_sent_first(patch: Patch) -> None:
    take = RequestAccounting.take

    def last_first(self: RequestAccounting, replies: deque[Call]) -> tuple[int, Pieces]:
        for done in [one for one in replies if one.pieces is not None]:
            replies.remove(done)
            replies.appendleft(done)
        return take(self, replies)

    patch.setattr(RequestAccounting, "take", last_first)


def response_is_dropped(patch: Patch) -> None:
    flush = ResponseFlusher.flush

    def careless(self: ResponseFlusher) -> None:
        if len(self._senders) > 1:
            self._senders.popitem()
        flush(self)

    patch.setattr(ResponseFlusher, "flush", careless)


def parked_request_never_runs(patch: Patch) -> None:
    patch.setattr(Connection, "next_parked", lambda self: None)


def waiting_fetch_is_not_woken(patch: Patch) -> None:
    patch.setattr(FetchPurgatory, "advanced", lambda self, partition: None)


def abandoned_fetch_stays_in_purgatory(patch: Patch) -> None:
    patch.setattr(DelayedFetch, "abandon", Pending.abandon)


def fetch_session_returns_only_new_watermarks(patch: Patch) -> None:
    def changed(self: FetchSession, fetched: list[FetchedPartition]) -> list[FetchedPartition]:
        chosen = [one for one in fetched if self._sent.get(one.item.key) != _state(one)]
        self.remember(chosen)
        return chosen

    patch.setattr(FetchSession, "changed", changed)


def waiting_fetches_are_not_released_at_shutdown(patch: Patch) -> None:
    patch.setattr(FetchService, "release", lambda self: None)


def memory_of_a_lost_connection_is_not_released(patch: Patch) -> None:
    patch.setattr(Session, "_release_all", lambda self: None)


def connection_stays_open_after_a_lost_batch_without_acks(patch: Patch) -> None:
    patch.setattr(produce.ProduceWithoutAcks, "__call__", lambda self, failure: None)


SERVING: list[Callable[[Patch], None]] = [
    early_watermark,
    watermark_is_the_log_end,
    watermark_never_rises_again_after_a_failure,
    response_before_the_commit,
    duplicate_response_before_it_is_durable,
    duplicate_is_appended_twice,
    sequences_are_not_checked,
    batch_overtakes_a_lost_first_batch,
    recovery_loses_producers,
    producers_are_not_in_the_snapshot,
    reloaded_partition_keeps_its_old_end,
    partition_is_not_reloaded_after_a_failure,
    waiter_is_dropped_after_a_failure,
    append_behind_a_failed_commit_is_acknowledged,
    last_response_is_sent_first,
    response_is_dropped,
    parked_request_never_runs,
    waiting_fetch_is_not_woken,
    abandoned_fetch_stays_in_purgatory,
    fetch_session_returns_only_new_watermarks,
    waiting_fetches_are_not_released_at_shutdown,
    memory_of_a_lost_connection_is_not_released,
    connection_stays_open_after_a_lost_batch_without_acks,
]
