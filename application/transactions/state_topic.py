"""TransactionsInTopic: a TransactionRepository whose rows are also records of __transaction_state.

One record for each row: the state before the markers of a transaction is a record only if they are
written in a later commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from application.partitions.internal_topic import InternalTopic
from application.ports.transaction_repository import TransactionRepository
from application.state.catalog import Catalog
from application.state.features import Features
from domain.topics.internal_records import Record
from domain.transactions.state_record import places_of, transaction_key, transaction_record
from domain.transactions.transaction import Transaction


class TransactionsInTopic:
    def __init__(
        self,
        repository: TransactionRepository,
        topic: InternalTopic,
        features: Features,
        catalog: Catalog,
    ) -> None:
        self._repository = repository
        self._topic = topic
        self._features = features
        self._catalog = catalog

    def load(self, includes: Callable[[str], bool] | None = None) -> Iterable[Transaction]:
        return self._repository.load(includes)

    def save(self, transactional_id: str, transaction: Transaction | None) -> None:
        self._repository.save(transactional_id, transaction)
        self.append(transactional_id, transaction)

    def append(self, transactional_id: str, transaction: Transaction | None) -> None:
        self._topic.append(transactional_id, lambda: [self._record(transactional_id, transaction)])

    def _record(self, transactional_id: str, transaction: Transaction | None) -> Record:
        if transaction is None:
            return transaction_key(transactional_id), None
        places = places_of(transaction, self._catalog.offsets_partitions)
        return transaction_record(transaction, places, self._features.transaction_version)
