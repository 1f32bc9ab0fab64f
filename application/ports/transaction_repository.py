from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from domain.transactions.transaction import Transaction


class TransactionRepository(Protocol):
    """Changes are staged, and persisted by the next commit."""

    def load(self) -> Iterable[Transaction]: ...

    def save(self, transactional_id: str, transaction: Transaction | None) -> None:
        """Replaces the transaction of a transactional id; None removes it."""
        ...
