"""Faults on the way of a request: commits, duplicates, answers, waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from application.partitions.fetch import DelayedFetch, FetchedPartition, FetchService
from application.partitions.fetch_sessions import FetchSession, _state
from application.ports.pending import Pending
from application.state.commits import Commits
from application.state.fetch_purgatory import FetchPurgatory
from domain.errors import StorageFailed
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition, PartitionSnapshot
from domain.partitions.producers import AppendedBatch, Producers
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from interfaces.kafka.connections.connection import Connection
from interfaces.kafka.connections.session import Session
from interfaces.kafka.connections.shared import ResponseFlusher
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


def answer_before_the_commit(patch: Patch) -> None:
    patch.setattr(Commits, "wait", lambda self, then: then(None))


def duplicate_is_answered_before_it_is_durable(patch: Patch) -> None:
    append = produce._append

    def hasty(topic: Any, data: Any, call: Any, durable: Any) -> Any:
        partition = call.broker.catalog.partition(topic, data.index)
        before = None if partition is None else partition.end.next_offset
        answer = append(topic, data, call, durable)
        if answer in durable.staged and partition.end.next_offset == before:
            durable.staged.remove(answer)
        return answer

    patch.setattr(produce, "_append", hasty)


def duplicate_is_appended_twice(patch: Patch) -> None:
    find = Producers.find_duplicate

    def forgetful(self: Producers, batch: RecordBatch) -> AppendedBatch | None:
        find(self, batch)
        return None

    patch.setattr(Producers, "find_duplicate", forgetful)


def sequences_are_not_checked(patch: Patch) -> None:
    patch.setattr(Producers, "find_duplicate", lambda self, batch: None)


def lost_first_batch_is_overtaken(patch: Patch) -> None:
    patch.setattr(Producers, "_check_awaited", lambda self, batch: None)


def producers_are_lost_when_a_partition_is_recovered(patch: Patch) -> None:
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


def rebuilt_partition_keeps_its_old_end(patch: Patch) -> None:
    recover = StoredPartitionRepository.recover

    def stubborn(self: StoredPartitionRepository, partition: Partition, waits: bool = True) -> None:
        end = partition.end.next_offset
        recover(self, partition, waits)
        partition.end.next_offset = max(end, partition.end.next_offset)

    patch.setattr(StoredPartitionRepository, "recover", stubborn)


def nothing_is_rebuilt_after_a_failure(patch: Patch) -> None:
    ended = Commits._ended

    def careless(
        self: Commits, partition: Partition, end: Any, failure: StorageFailed | None
    ) -> None:
        if failure is None:
            ended(self, partition, end, failure)

    patch.setattr(Commits, "_ended", careless)


def waiter_is_forgotten_after_a_failure(patch: Patch) -> None:
    done = Commits._done

    def careless(self: Commits, failure: StorageFailed | None) -> None:
        if failure is not None:
            self._waiters = []
        done(self, failure)

    patch.setattr(Commits, "_done", careless)


def what_gathered_behind_a_failure_is_acknowledged(patch: Patch) -> None:
    done = Commits._done

    def hopeful(self: Commits, failure: StorageFailed | None) -> None:
        behind: list[Any] = []
        if failure is not None:
            behind, self._waiters = self._waiters, []
        done(self, failure)
        for waiter in behind:
            self.wait(waiter)

    patch.setattr(Commits, "_done", hopeful)


def last_reply_is_sent_first(patch: Patch) -> None:
    take = RequestAccounting.take

    def last_first(self: RequestAccounting, replies: deque[Call]) -> tuple[int, Pieces]:
        for answered in [one for one in replies if one.pieces is not None]:
            replies.remove(answered)
            replies.appendleft(answered)
        return take(self, replies)

    patch.setattr(RequestAccounting, "take", last_first)


def answer_is_forgotten(patch: Patch) -> None:
    flush = ResponseFlusher.flush

    def careless(self: ResponseFlusher) -> None:
        if len(self._senders) > 1:
            self._senders.popitem()
        flush(self)

    patch.setattr(ResponseFlusher, "flush", careless)


def parked_request_is_never_run(patch: Patch) -> None:
    patch.setattr(Connection, "next_parked", lambda self: None)


def waiting_fetch_is_not_woken(patch: Patch) -> None:
    patch.setattr(FetchPurgatory, "advanced", lambda self, partition: None)


def abandoned_fetch_goes_on_waiting(patch: Patch) -> None:
    patch.setattr(DelayedFetch, "abandon", Pending.abandon)


def fetch_session_tells_only_of_new_watermarks(patch: Patch) -> None:
    def changed(self: FetchSession, fetched: list[FetchedPartition]) -> list[FetchedPartition]:
        chosen = [one for one in fetched if self._sent.get(one.item.key) != _state(one)]
        self.remember(chosen)
        return chosen

    patch.setattr(FetchSession, "changed", changed)


def waiting_fetches_are_not_released_at_the_end(patch: Patch) -> None:
    patch.setattr(FetchService, "release", lambda self: None)


def memory_of_a_lost_connection_is_not_given_back(patch: Patch) -> None:
    patch.setattr(Session, "_release_all", lambda self: None)


def lost_unanswered_batch_is_not_told(patch: Patch) -> None:
    patch.setattr(produce.ProduceWithoutAcks, "__call__", lambda self, failure: None)


SERVING: list[Callable[[Patch], None]] = [
    early_watermark,
    watermark_is_the_log_end,
    watermark_never_rises_again_after_a_failure,
    answer_before_the_commit,
    duplicate_is_answered_before_it_is_durable,
    duplicate_is_appended_twice,
    sequences_are_not_checked,
    lost_first_batch_is_overtaken,
    producers_are_lost_when_a_partition_is_recovered,
    producers_are_not_in_the_snapshot,
    rebuilt_partition_keeps_its_old_end,
    nothing_is_rebuilt_after_a_failure,
    waiter_is_forgotten_after_a_failure,
    what_gathered_behind_a_failure_is_acknowledged,
    last_reply_is_sent_first,
    answer_is_forgotten,
    parked_request_is_never_run,
    waiting_fetch_is_not_woken,
    abandoned_fetch_goes_on_waiting,
    fetch_session_tells_only_of_new_watermarks,
    waiting_fetches_are_not_released_at_the_end,
    memory_of_a_lost_connection_is_not_given_back,
    lost_unanswered_batch_is_not_told,
]
