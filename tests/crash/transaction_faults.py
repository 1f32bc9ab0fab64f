"""Faults of transactions, to show that the comparison of copies finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from application.groups.transactional_offsets import TransactionalOffsets
from application.partitions.markers import TransactionMarkers
from domain.groups.classic.group import ClassicGroup
from domain.messages.control import EndMarker
from domain.partitions.partition import Partition
from domain.partitions.transactions import Transactions
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from infrastructure.storage.repositories.transaction_index import StoredTransactionIndex
from infrastructure.storage.repositories.transaction_repository import StoredTransactionRepository


def forgets_open_transactions_of_partitions() -> None:
    recover = StoredPartitionRepository.recover

    def forgetful(
        self: StoredPartitionRepository, partition: Partition, waits: bool = True
    ) -> None:
        recover(self, partition, waits)
        partition.transactions = Transactions()

    StoredPartitionRepository.recover = forgetful  # type: ignore[method-assign]


def does_not_index_aborted_transactions() -> None:
    StoredTransactionIndex.add = (  # type: ignore[method-assign]
        lambda self, partition_id, aborted: None
    )


def shows_open_transactions() -> None:
    Partition.last_stable_offset = property(  # type: ignore[assignment, method-assign]
        lambda self: self.high_watermark
    )


def commits_offsets_of_aborted_transactions() -> None:
    complete = TransactionalOffsets.complete

    def always(self: TransactionalOffsets, producer_id: int, groups: Any, committed: bool) -> None:
        complete(self, producer_id, groups, True)

    TransactionalOffsets.complete = always  # type: ignore[method-assign]


def does_not_commit_offsets() -> None:
    complete = TransactionalOffsets.complete

    def never(self: TransactionalOffsets, producer_id: int, groups: Any, committed: bool) -> None:
        complete(self, producer_id, groups, False)

    TransactionalOffsets.complete = never  # type: ignore[method-assign]


def commits_offsets_of_former_members() -> None:
    ClassicGroup.check_transactional_commit = lambda self, *member: None  # type: ignore[method-assign]


def shows_unstable_offsets() -> None:
    TransactionalOffsets.is_pending = lambda self, *place: False  # type: ignore[method-assign]


def forgets_transactional_ids() -> None:
    StoredTransactionRepository.load = lambda self: iter(())  # type: ignore[assignment, method-assign]


def writes_no_markers() -> None:
    TransactionMarkers.write = lambda self, *arguments: None  # type: ignore[assignment, method-assign]


def commits_aborted_transactions() -> None:
    write = TransactionMarkers.write

    def always(
        self: TransactionMarkers, partition: Partition, marker: EndMarker, version: int
    ) -> None:
        write(self, partition, marker._replace(committed=True), version)

    TransactionMarkers.write = always  # type: ignore[method-assign]


#: Each with the names of what is found.
TRANSACTION_FAULTS: dict[str, tuple[Callable[[], None], frozenset[str]]] = {
    fault.__name__: (fault, frozenset(names))
    for fault, *names in (
        (forgets_open_transactions_of_partitions, "aborted read"),
        (does_not_index_aborted_transactions, "aborted read"),
        (shows_open_transactions, "aborted read"),
        (commits_offsets_of_aborted_transactions, "lost write"),
        (does_not_commit_offsets, "stuck copiers", "duplicate"),
        (commits_offsets_of_former_members, "duplicate"),
        (shows_unstable_offsets, "duplicate"),
        (forgets_transactional_ids, "hanging transaction"),
        (writes_no_markers, "hanging transaction"),
        (commits_aborted_transactions, "aborted read"),
    )
}
