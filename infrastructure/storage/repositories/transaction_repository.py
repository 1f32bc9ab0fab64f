"""Transactions as rows, the same for every engine.

transactions    digest of the transactional id -> JSON: see `_encode`
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import blake2b

from application.ports.pending import Pending, resolved
from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from domain.transactions.states import State
from domain.transactions.transaction import Transaction

_TRANSACTIONS = "transactions"
_DIGEST_BYTES = 16
#: Place of the state in a row; partitions and groups follow.
_STATE = Transaction._fields.index("state")
_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


#: Reads a row that another broker may have, by table and key.
FetchRow = Callable[[str, bytes], Pending[bytes | StorageFailed | None]]


class StoredTransactionRepository:
    __slots__ = ("_fetch_row", "_state")

    def __init__(self, state: StateStore, fetch_row: FetchRow | None = None) -> None:
        """Without `fetch_row` this broker has all rows."""
        self._state = state
        self._fetch_row = fetch_row

    def load(self, includes: Callable[[str], bool] | None = None) -> Iterator[Transaction]:
        for key, row in self._state.scan(_TRANSACTIONS):
            transaction = _decoded(key, row)
            if includes is None or includes(transaction.transactional_id):
                yield transaction

    def read(self, transactional_id: str) -> Pending[Transaction | StorageFailed | None]:
        key = _key(transactional_id)

        def read(row: bytes | StorageFailed | None) -> Transaction | StorageFailed | None:
            if not isinstance(row, bytes):
                return row
            try:
                return _decoded(key, row)
            except StorageFailed as damage:
                return damage.as_value()

        if self._fetch_row is None:
            return resolved(read(self._state.get(_TRANSACTIONS, key)))
        return self._fetch_row(_TRANSACTIONS, key).map(read)

    def save(self, transactional_id: str, transaction: Transaction | None) -> None:
        row = None if transaction is None else _encode(transaction)
        self._state.put(_TRANSACTIONS, _key(transactional_id), row)


def _key(transactional_id: str) -> bytes:
    return blake2b(transactional_id.encode(), digest_size=_DIGEST_BYTES).digest()


def _decoded(key: bytes, row: bytes) -> Transaction:
    try:
        return _decode(row)
    except _DAMAGE as damage:
        raise StorageFailed(
            f"The store could not read a transaction's row {key!r}: {damage!r}"
        ) from damage


def _encode(one: Transaction) -> bytes:
    """The fields in their order; partitions as {topic: [partition, ...]}; the last one if it is
    set.
    """
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(one.partitions):
        topics.setdefault(topic, []).append(partition)
    return json.dumps(
        [
            *one[:_STATE],
            one.state.value,
            topics,
            sorted(one.groups),
            *one[_STATE + 3 : None if one.markers_requested else -1],
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
