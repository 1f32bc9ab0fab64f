"""TransactionRegistry: the transaction of each transactional id, in memory and in the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from application.ports.transaction_repository import TransactionRepository
from application.state.commits import Commits
from application.state.runtime import Aggregates, Done, Runtime, ignore
from domain.errors import InvalidProducerIdMapping
from domain.transactions.transaction import Transaction


class Change(NamedTuple):
    #: To return to if the commit fails.
    before: Transaction | None
    after: Transaction | None


class TransactionRegistry(Aggregates[str, Change]):
    """A change applies when it is decided, so that the next request is decided on it."""

    def __init__(self, repository: TransactionRepository, commits: Commits) -> None:
        self._repository = repository
        self._commits = commits
        self._by_id = {one.transactional_id: one for one in repository.load()}
        self.runtime: Runtime[str, Change] = Runtime(self)

    def __iter__(self) -> Iterator[Transaction]:
        """As they are now: the caller may change them."""
        return iter(list(self._by_id.values()))

    def find(self, transactional_id: str) -> Transaction | None:
        return self._by_id.get(transactional_id)

    def existing(self, transactional_id: str) -> Transaction:
        found = self._by_id.get(transactional_id)
        if found is None:
            raise InvalidProducerIdMapping(f"Unknown transactional id: {transactional_id}")
        return found

    def put(self, transaction: Transaction) -> None:
        self._change(transaction.transactional_id, transaction)

    def remove(self, transactional_id: str) -> None:
        self._change(transactional_id, None)

    def _change(self, transactional_id: str, after: Transaction | None) -> None:
        change = Change(self.find(transactional_id), after)
        self.runtime.persist(transactional_id, (change,), ignore)

    def _set(self, transactional_id: str, value: Transaction | None) -> None:
        if value is None:
            self._by_id.pop(transactional_id, None)
        else:
            self._by_id[transactional_id] = value

    # ---- Aggregates

    def decided(self, transactional_id: str, changes: Sequence[Change]) -> None:
        self._set(transactional_id, changes[-1].after)

    def stage(self, transactional_id: str, changes: Sequence[Change], done: Done) -> None:
        self._repository.save(transactional_id, changes[-1].after)
        self._commits.when_committed(done)

    def lost(self, transactional_id: str, changes: Sequence[Change], first: bool) -> None:
        if first:
            self._set(transactional_id, changes[0].before)
