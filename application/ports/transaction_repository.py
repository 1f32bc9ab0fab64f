from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from domain.transactions.transaction import Transaction


class TransactionRepository(Protocol):
    """Changes are staged, and persisted by the next commit."""

    def load(self, includes: Callable[[str], bool] | None = None) -> Iterable[Transaction]:
        """All, or those whose transactional ids `includes` returns True for."""
        ...

    def save(self, transactional_id: str, transaction: Transaction | None) -> None:
        """Replaces the transaction of a transactional id; None removes it."""
        ...
