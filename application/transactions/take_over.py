"""TakeOver: fences the producer of a transactional id, for clients that do not retry (REST).

Kafka's clients repeat InitProducerId while the transaction before it ends, which takes more than
one commit if other brokers lead partitions of it, or a partition is not in memory.
"""

from __future__ import annotations

from application.background.job import Job
from application.background.runner import Runner
from application.ports.pending import Pending
from application.transactions.coordinator import TransactionCoordinator
from application.transactions.end_wait import EndWait
from domain.errors import BrokerError, ConcurrentTransactions
from domain.transactions.transaction import ProducerIdAndEpoch

#: Of the end of the transaction before. As `default.api.timeout.ms` of Kafka's clients.
LONGEST_WAIT_MS = 60_000


class TakeOverService:
    def __init__(
        self,
        coordinator: TransactionCoordinator,
        end_wait: EndWait,
        background: Runner,
    ) -> None:
        self._coordinator = coordinator
        self._end_wait = end_wait
        self._background = background

    def run(
        self, transactional_id: str, timeout_ms: int
    ) -> Pending[ProducerIdAndEpoch | BrokerError]:
        return self._background.run(self.job(transactional_id, timeout_ms))

    def job(self, transactional_id: str, timeout_ms: int) -> Job[ProducerIdAndEpoch | BrokerError]:
        """Aborts the open transaction and awaits its end; returns the new producer, or
        ConcurrentTransactions if that takes too long.
        """
        while True:
            outcome: ProducerIdAndEpoch | BrokerError
            try:
                outcome = yield self._coordinator.init_producer_id(
                    transactional_id, timeout_ms, None
                )
            except BrokerError as refused:
                outcome = refused.as_value()
            if not isinstance(outcome, ConcurrentTransactions):
                return outcome
            lost: BrokerError | None = yield self._coordinator.when_durable(transactional_id, None)
            if lost is not None:
                return lost
            if not (yield self._end_wait.within(transactional_id, LONGEST_WAIT_MS)):
                return ConcurrentTransactions(
                    "The transaction is ending: its markers are not written in all partitions yet"
                )
