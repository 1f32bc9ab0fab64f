from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from domain.security.quota import QuotaEntity, Quotas


class QuotaRepository(Protocol):
    """Quotas of clients and addresses. Changes are staged, and persisted by the next commit."""

    def load(self) -> dict[QuotaEntity, Quotas]: ...

    def save(self, entity: QuotaEntity, quotas: Quotas) -> None:
        """Replaces all quotas of the entity; without any its row is deleted."""
        ...

    def follow(self, changed: Callable[[Mapping[QuotaEntity, Quotas]], None]) -> None:
        """Calls back with all quotas of the entities that another broker has altered."""
        ...
