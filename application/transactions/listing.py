"""ListTransactions: the transactions that match all filters."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from application.ports.clock import Clock
from application.ports.patterns import CompilePattern
from application.transactions.registry import TransactionRegistry
from domain.transactions.states import State
from domain.transactions.transaction import Transaction

ANY_DURATION = -1


class ListTransactionsService:
    def __init__(
        self, registry: TransactionRegistry, compile_pattern: CompilePattern, clock: Clock
    ) -> None:
        self._registry = registry
        self._compile_pattern = compile_pattern
        self._clock = clock

    def list(
        self,
        states: Collection[State] | None = None,
        producer_ids: Collection[int] = (),
        longer_than_ms: int = ANY_DURATION,
        pattern: str | None = None,
    ) -> Iterator[Transaction]:
        """Raises InvalidRegularExpression. `None`, and no producer ids, match all."""
        matches = self._compile_pattern(pattern) if pattern else None
        now_ms = self._clock.now_ms()
        for one in self._registry:
            if (
                (states is None or one.state in states)
                and (not producer_ids or one.producer_id in producer_ids)
                and (longer_than_ms < 0 or now_ms - one.started_ms > longer_than_ms)
                and (matches is None or matches(one.transactional_id))
            ):
                yield one
