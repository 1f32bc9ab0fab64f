"""TransactionRegistry: the transaction of each transactional id, in memory and in the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from application.ports.transaction_repository import TransactionRepository
from application.state.commits import Commits
from application.state.coordinators import Coordinators
from application.state.runtime import Aggregates, Done, Runtime, ignore
from domain.errors import InvalidProducerIdMapping
from domain.transactions.transaction import Transaction


class Change(NamedTuple):
    #: To return to if the commit fails.
    before: Transaction | None
    after: Transaction | None


class TransactionRegistry(Aggregates[str, Change]):
    """Those that this node coordinates. A change applies when it is decided, so that the next
    request is decided on it.
    """

    def __init__(
        self, repository: TransactionRepository, commits: Commits, coordinators: Coordinators
    ) -> None:
        self._repository = repository
        self._commits = commits
        self._coordinators = coordinators
        self._by_id: dict[str, Transaction] = {}
        self._when_ended: dict[str, list[Callable[[], None]]] = {}
        self.runtime: Runtime[str, Change] = Runtime(self)
        self.load(coordinators.is_here)

    def load(self, transactional_ids: Callable[[str], bool]) -> None:
        for one in self._repository.load(transactional_ids):
            self._by_id[one.transactional_id] = one

    def unload(self, transactional_ids: Callable[[str], bool]) -> None:
        """Removes transactions from memory only: another node coordinates them."""
        self.runtime.drop(transactional_ids)
        for one in filter(transactional_ids, list(self._by_id)):
            del self._by_id[one]
            self._call_ended(one)

    def __iter__(self) -> Iterator[Transaction]:
        """As they are now: the caller may change them."""
        return iter(list(self._by_id.values()))

    def find(self, transactional_id: str) -> Transaction | None:
        return self._by_id.get(transactional_id)

    def is_here(self, transactional_id: str) -> bool:
        return self._coordinators.is_here(transactional_id)

    def check_here(self, transactional_id: str) -> None:
        """For requests of clients: raises unless this node coordinates the transactional id."""
        self._coordinators.check_to_serve(transactional_id)

    def check_copies(self) -> None:
        """Before a change that a client requests. Raises CoordinatorNotAvailable."""
        self._coordinators.check_copies()

    def existing(self, transactional_id: str) -> Transaction:
        self.check_here(transactional_id)
        found = self._by_id.get(transactional_id)
        if found is None:
            raise unknown_transactional_id(transactional_id)
        return found

    def put(self, transaction: Transaction) -> None:
        self._change(transaction.transactional_id, transaction)

    def remove(self, transactional_id: str) -> None:
        self._change(transactional_id, None)

    def _change(self, transactional_id: str, after: Transaction | None) -> None:
        change = Change(self.find(transactional_id), after)
        self.runtime.persist(transactional_id, (change,), ignore)

    def when_ended(self, transactional_id: str, call: Callable[[], None]) -> None:
        """Calls back when no transaction of this id is ending here."""
        self._when_ended.setdefault(transactional_id, []).append(call)
        if not self._is_ending(transactional_id):
            self._call_ended(transactional_id)

    def _is_ending(self, transactional_id: str) -> bool:
        found = self.find(transactional_id)
        return found is not None and found.is_prepared

    def _call_ended(self, transactional_id: str) -> None:
        for call in self._when_ended.pop(transactional_id, ()):
            call()

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

    def committed(self, transactional_id: str, changes: Sequence[Change]) -> None:
        # Not when it is decided: what is called may decide on it, too.
        if transactional_id in self._when_ended and not self._is_ending(transactional_id):
            self._call_ended(transactional_id)

    def lost(self, transactional_id: str, changes: Sequence[Change], first: bool) -> None:
        if first:
            self._set(transactional_id, changes[0].before)


def unknown_transactional_id(transactional_id: str) -> InvalidProducerIdMapping:
    return InvalidProducerIdMapping(f"Unknown transactional id: {transactional_id}")
