"""TransactionMoves: transactions are in memory where they are coordinated."""

from __future__ import annotations

from application.state.coordinators import Moved
from application.transactions.ends import Ends
from application.transactions.registry import TransactionRegistry


class TransactionMoves:
    def __init__(self, registry: TransactionRegistry, ends: Ends) -> None:
        self._registry = registry
        self._ends = ends

    def lost(self, transactional_ids: Moved) -> None:
        self._registry.unload(transactional_ids)

    def gained(self, transactional_ids: Moved) -> None:
        """Raises StorageFailed if their rows cannot be read."""
        self._registry.unload(transactional_ids)  # what an attempt before has loaded
        self._registry.load(transactional_ids)
        self._ends.resume(transactional_ids)
