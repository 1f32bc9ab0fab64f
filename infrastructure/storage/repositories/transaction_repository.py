"""Transactions as rows, the same for every engine.

transactions    digest of the transactional id -> JSON: see `_encode`
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import blake2b

from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from domain.transactions.states import State
from domain.transactions.transaction import Transaction

_TRANSACTIONS = "transactions"
_DIGEST_BYTES = 16
#: Place of the state in a row; partitions and groups follow.
_STATE = Transaction._fields.index("state")
_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


class StoredTransactionRepository:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def load(self, includes: Callable[[str], bool] | None = None) -> Iterator[Transaction]:
        for key, row in self._state.scan(_TRANSACTIONS):
            try:
                transaction = _decode(row)
            except _DAMAGE as damage:
                raise StorageFailed(
                    f"The store could not read a transaction's row {key!r}: {damage!r}"
                ) from damage
            if includes is None or includes(transaction.transactional_id):
                yield transaction

    def save(self, transactional_id: str, transaction: Transaction | None) -> None:
        key = blake2b(transactional_id.encode(), digest_size=_DIGEST_BYTES).digest()
        self._state.put(_TRANSACTIONS, key, None if transaction is None else _encode(transaction))


def _encode(one: Transaction) -> bytes:
    """The fields in their order; partitions as {topic: [partition, ...]}."""
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(one.partitions):
        topics.setdefault(topic, []).append(partition)
    return json.dumps(
        [
            *one[:_STATE],
            one.state.value,
            topics,
            sorted(one.groups),
            *one[_STATE + 3 :],
        ]
    ).encode()


def _decode(row: bytes) -> Transaction:
    values = json.loads(row)
    state, topics, groups = values[_STATE : _STATE + 3]
    values[_STATE : _STATE + 3] = (
        State(state),
        frozenset((topic, one) for topic in topics for one in topics[topic]),
        frozenset(groups),
    )
    return Transaction(*values)
