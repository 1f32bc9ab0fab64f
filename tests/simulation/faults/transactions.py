"""Faults of transactions: torn ends, wrong visibility, zombies, lost offsets, forgotten ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from application.background.job import SLICE, Job
from application.groups.pending_offsets import PendingOffsets
from application.groups.transactional_offsets import TransactionalOffsets
from application.partitions.log_cleaner import LogCleaner
from application.partitions.markers import TransactionMarkers
from application.ports.pending import Pending, resolved
from application.transactions.coordinator import TransactionCoordinator
from application.transactions.ends import TransactionEnds
from application.transactions.expiry import TransactionExpiry
from application.transactions.registry import TransactionRegistry
from domain.compaction.log_to_clean import LogToClean
from domain.compaction.transactions import CleanedTransactions
from domain.messages.batch import CONTROL, RecordBatch
from domain.partitions.partition import Partition
from domain.partitions.snapshot import PartitionSnapshot
from domain.partitions.transactions import Transactions
from domain.transactions import decisions
from domain.transactions.transaction import ProducerIdAndEpoch, Transaction
from infrastructure.storage.repositories.transaction_index import StoredTransactionIndex

Patch = pytest.MonkeyPatch

# ---- ends


def marker_is_missing_in_one_partition(patch: Patch) -> None:
    partitions = TransactionEnds._partitions
    patch.setattr(
        TransactionEnds, "_partitions", lambda self, prepared: partitions(self, prepared)[1:]
    )


def markers_are_not_in_the_commit_of_the_end(patch: Patch) -> None:
    write = TransactionMarkers.write

    def torn(self: TransactionMarkers, *marker: Any) -> None:
        self._commits.wait(lambda failure: None if failure else write(self, *marker))

    patch.setattr(TransactionMarkers, "write", torn)


def end_response_before_its_commit(patch: Patch) -> None:
    def hasty(self: TransactionCoordinator, transactional_id: str, value: Any) -> Pending[Any]:
        return resolved(value)

    patch.setattr(TransactionCoordinator, "when_durable", hasty)


def decision_stays_after_a_failed_commit(patch: Patch) -> None:
    patch.setattr(TransactionRegistry, "lost", lambda self, transactional_id, changes, first: None)


def prepared_transactions_are_forgotten_at_start(patch: Patch) -> None:
    patch.setattr(TransactionEnds, "start", lambda self: None)


def open_transactions_do_not_time_out(patch: Patch) -> None:
    def idle(self: TransactionExpiry) -> Job[None]:
        yield SLICE

    patch.setattr(TransactionExpiry, "_abort", idle)


def open_transactional_ids_expire(patch: Patch) -> None:
    def careless(self: Transaction, now_ms: int, expiration_ms: int) -> bool:
        return self.updated_ms <= now_ms - expiration_ms

    patch.setattr(Transaction, "is_expired", careless)


def commit_becomes_an_abort(patch: Patch) -> None:
    """If the transaction ends in more than one commit."""
    end_job = TransactionEnds._end_job

    def forgetful(self: TransactionEnds, transactional_id: str, loading: Any) -> Job[None]:
        prepared = self._registry.find(transactional_id)
        if prepared is not None and prepared.is_prepared:
            aborted = prepared._replace(state=decisions._prepared(False))
            self._registry._set(transactional_id, aborted)
        yield from end_job(self, transactional_id, loading)

    patch.setattr(TransactionEnds, "_end_job", forgetful)


# ---- zombies


def zombie_is_accepted(patch: Patch) -> None:
    def trusting(before: Transaction, producer: ProducerIdAndEpoch) -> None:
        return None

    patch.setattr(decisions, "check_producer", trusting)


def new_producer_has_the_epoch_of_the_one_before(patch: Patch) -> None:
    initialize = decisions.init_producer_id

    def same(before: Transaction, *rest: Any) -> Transaction:
        after = initialize(before, *rest)
        if after.producer_id == before.producer_id and before.epoch >= 0:
            return after._replace(epoch=before.epoch)
        return after

    patch.setattr(decisions, "init_producer_id", same)


# ---- what consumers see


def last_stable_offset_is_the_high_watermark(patch: Patch) -> None:
    patch.setattr(Partition, "last_stable_offset", Partition.high_watermark)


def last_stable_offset_moves_before_the_commit(patch: Patch) -> None:
    def early(self: Partition) -> int:
        first = self.end.first_unstable
        return self.durable.next_offset if first is None else first.first_offset

    patch.setattr(Partition, "last_stable_offset", property(early))


def last_stable_offset_does_not_move(patch: Patch) -> None:
    """At a marker, until the next batch of a transaction."""
    record = Partition._record_transactional

    def slow(self: Partition, batch: RecordBatch) -> None:
        before = self.end.first_unstable
        record(self, batch)
        if batch.attributes & CONTROL:
            self.end.first_unstable = before

    patch.setattr(Partition, "_record_transactional", slow)


def open_transactions_are_not_in_the_snapshot(patch: Patch) -> None:
    snapshot = Partition.snapshot

    def without(self: Partition) -> PartitionSnapshot:
        whole = snapshot(self)
        whole.transactions = Transactions(last_aborted_offset=self.transactions.last_aborted_offset)
        return whole

    patch.setattr(Partition, "snapshot", without)


def aborted_transactions_are_not_indexed(patch: Patch) -> None:
    patch.setattr(StoredTransactionIndex, "add", lambda self, partition_id, aborted: None)


def transaction_index_is_cut_too_early(patch: Patch) -> None:
    below = StoredTransactionIndex.below

    def greedy(
        self: StoredTransactionIndex, partition_id: int, offset: int, entries: int
    ) -> list[int]:
        return below(self, partition_id, offset + 4, entries)

    patch.setattr(StoredTransactionIndex, "below", greedy)


def transaction_index_is_unknown_after_a_restart(patch: Patch) -> None:
    restore = Partition.restore

    def forgetful(self: Partition, snapshot: PartitionSnapshot | None, *rest: Any) -> None:
        restore(self, snapshot, *rest)
        self.transactions.last_aborted_offset = -1

    patch.setattr(Partition, "restore", forgetful)


# ---- offsets


def _completing(patch: Patch, outcome: bool) -> None:
    whole = TransactionalOffsets.complete

    def wrong(
        self: TransactionalOffsets, producer_id: int, group_ids: Iterable[str], committed: bool
    ) -> None:
        whole(self, producer_id, list(group_ids), outcome)

    patch.setattr(TransactionalOffsets, "complete", wrong)


def aborted_offsets_are_committed(patch: Patch) -> None:
    _completing(patch, True)


def committed_offsets_are_lost(patch: Patch) -> None:
    _completing(patch, False)


def pending_offset_is_acknowledged_before_its_commit(patch: Patch) -> None:
    persist = PendingOffsets.persist

    def hasty(self: PendingOffsets, producer_id: int, writes: Any, then: Any) -> None:
        persist(self, producer_id, writes, lambda failure: None)
        then(None)

    patch.setattr(PendingOffsets, "persist", hasty)


def pending_offsets_count_as_stable(patch: Patch) -> None:
    patch.setattr(TransactionalOffsets, "is_pending", lambda self, *place: False)


def offsets_of_ended_transactions_stay_pending(patch: Patch) -> None:
    persist = PendingOffsets.persist

    def careless(self: PendingOffsets, producer_id: int, writes: Any, then: Any) -> None:
        persist(self, producer_id, [one for one in writes if one[3] is not None], then)

    patch.setattr(PendingOffsets, "persist", careless)


# ---- compaction


def aborted_records_survive_compaction(patch: Patch) -> None:
    patch.setattr(CleanedTransactions, "is_aborted", lambda self, batch: False)


def markers_go_before_their_records(patch: Patch) -> None:
    patch.setattr(CleanedTransactions, "end", lambda self, marker: True)


def open_transactions_are_compacted(patch: Patch) -> None:
    patch.setattr(LogToClean, "limited", lambda self, first_uncleanable_offset: self)


def index_keeps_transactions_without_marker(patch: Patch) -> None:
    patch.setattr(LogCleaner, "_ended", lambda self, partition_id, first, last, batches: [])


TRANSACTIONS: list[Callable[[Patch], None]] = [
    marker_is_missing_in_one_partition,
    markers_are_not_in_the_commit_of_the_end,
    end_response_before_its_commit,
    decision_stays_after_a_failed_commit,
    prepared_transactions_are_forgotten_at_start,
    open_transactions_do_not_time_out,
    open_transactional_ids_expire,
    commit_becomes_an_abort,
    zombie_is_accepted,
    new_producer_has_the_epoch_of_the_one_before,
    last_stable_offset_is_the_high_watermark,
    last_stable_offset_moves_before_the_commit,
    last_stable_offset_does_not_move,
    open_transactions_are_not_in_the_snapshot,
    aborted_transactions_are_not_indexed,
    transaction_index_is_cut_too_early,
    transaction_index_is_unknown_after_a_restart,
    aborted_offsets_are_committed,
    committed_offsets_are_lost,
    pending_offset_is_acknowledged_before_its_commit,
    pending_offsets_count_as_stable,
    offsets_of_ended_transactions_stay_pending,
    aborted_records_survive_compaction,
    markers_go_before_their_records,
    open_transactions_are_compacted,
    index_keeps_transactions_without_marker,
]
