from __future__ import annotations

from typing import Protocol

from domain.security.quota import QuotaEntity, Quotas


class QuotaRepository(Protocol):
    """Quotas of clients and addresses. Changes are staged, and persisted by the next commit."""

    def load(self) -> dict[QuotaEntity, Quotas]: ...

    def save(self, entity: QuotaEntity, quotas: Quotas) -> None:
        """Replaces all quotas of the entity; without any its row is deleted."""
        ...
