"""EndWait: waits until a transaction that is ending has ended."""

from __future__ import annotations

from application.background.runner import Runner
from application.ports.clock import Clock
from application.ports.pending import Pending
from application.transactions.registry import TransactionRegistry

#: Markers of other brokers are there within milliseconds; clients wait longer before they repeat a
#: request. Kafka's brokers wait as long before they refuse a batch
#: (`add.partitions.to.txn.retry.backoff.max.ms`).
SHORT_MS = 100


class EndWait:
    def __init__(self, registry: TransactionRegistry, background: Runner, clock: Clock) -> None:
        self._registry = registry
        self._background = background
        self._clock = clock

    def within(self, transactional_id: str, timeout_ms: int) -> Pending[bool]:
        """False if the time is over."""
        ended: Pending[bool] = Pending()

        def end(in_time: bool) -> None:
            timer.cancel()
            if not ended.resolved:
                ended.resolve(in_time)

        timer = self._background.after_ms(timeout_ms, lambda: end(False))
        self._registry.when_ended(transactional_id, lambda: end(True))
        return ended

    def shortly(self, transactional_id: str) -> Pending[bool] | None:
        """As `within`. None: the transaction does not end, or has begun to long ago."""
        transaction = self._registry.find(transactional_id)
        if transaction is None or not transaction.is_prepared:
            return None
        passed_ms = self._clock.now_ms() - transaction.updated_ms
        if not 0 <= passed_ms < SHORT_MS:
            return None
        return self.within(transactional_id, SHORT_MS - passed_ms)
