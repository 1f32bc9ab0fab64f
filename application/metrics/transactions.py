"""Metrics of transactions, read in slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from application.broker import TransactionServices
from application.metrics.families import jmx, own
from application.metrics.families.family import Reading
from domain.transactions.states import State

#: Transactional ids that are read before other jobs may run.
LOOKED_AT_ONCE = 1000


class TransactionReadings:
    def __init__(self, transactions: TransactionServices) -> None:
        self._transactions = transactions

    def read(self) -> Iterator[Reading]:
        states: Counter[State] = Counter()
        for number, one in enumerate(self._transactions.registry, 1):
            states[one.state] += 1
            if number % LOOKED_AT_ONCE == 0:
                yield own.TRANSACTIONS, []
        yield own.TRANSACTIONS, [((state.value,), count) for state, count in states.items()]
        yield own.TRANSACTIONS_TIMED_OUT, [((), self._transactions.expiry.timed_out)]
        yield jmx.LATE_TRANSACTIONS, [((), self._transactions.late.partition_count)]
