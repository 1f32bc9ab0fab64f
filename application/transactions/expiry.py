"""TransactionExpiry: aborts transactions that time out, and forgets unused transactional ids."""

from __future__ import annotations

from functools import partial

from application.background.job import SLICE, Job
from application.background.runner import Runner
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.state.runtime import if_durable
from application.transactions.coordinator import TransactionCoordinator
from application.transactions.registry import TransactionRegistry
from domain.configs.broker import BrokerConfig
from domain.transactions.transaction import Transaction


class TransactionExpiry:
    def __init__(
        self,
        registry: TransactionRegistry,
        coordinator: TransactionCoordinator,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        events: EventLog,
    ) -> None:
        self._registry = registry
        self._coordinator = coordinator
        self._clock = clock
        self._background = background
        self._config = config
        self._events = events
        self.timed_out = 0

    def start(self) -> None:
        config, every = self._config, self._background.every
        every(config.transaction_abort_timed_out_transaction_cleanup_interval_ms, self._abort)
        every(config.transaction_remove_expired_transaction_cleanup_interval_ms, self._remove)

    def _abort(self) -> Job[None]:
        for listed in self._registry:
            transaction = self._registry.find(listed.transactional_id)
            if transaction is not None and transaction.is_timed_out(self._clock.now_ms()):
                self._coordinator.fence(transaction)
                timed_out = partial(self._timed_out, transaction)
                self._registry.runtime.when_durable(
                    transaction.transactional_id, if_durable(timed_out)
                )
            yield SLICE

    def _timed_out(self, transaction: Transaction) -> None:
        self.timed_out += 1
        self._events.info(
            "transaction_timed_out",
            transactional_id=transaction.transactional_id,
            producer_id=transaction.producer_id,
            timeout_ms=transaction.timeout_ms,
        )

    def _remove(self) -> Job[None]:
        expiration_ms = self._config.transactional_id_expiration_ms
        for listed in self._registry:
            transaction = self._registry.find(listed.transactional_id)
            if transaction is not None and transaction.is_expired(
                self._clock.now_ms(), expiration_ms
            ):
                self._registry.remove(transaction.transactional_id)
            yield SLICE
