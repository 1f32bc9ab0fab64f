"""OwnRows: rows of an engine itself, in the table that no repository sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import lmdb
    from lmdb import Transaction, _Database


class OwnRows:
    """Raises lmdb.Error."""

    __slots__ = ("_env", "_prefix", "_rows")

    def __init__(self, env: lmdb.Environment, rows: _Database, prefix: bytes) -> None:
        self._env = env
        self._rows = rows
        self._prefix = b"store\0" + prefix

    def other(self, prefix: bytes) -> OwnRows:
        return OwnRows(self._env, self._rows, prefix)

    def get(self, key: bytes) -> bytes | None:
        with self._env.begin() as txn:
            return txn.get(self._prefix + key, db=self._rows)

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        with self._env.begin() as txn:
            cursor = txn.cursor(self._rows)
            found = cursor.set_range(self._prefix)
            while found:
                key, value = cursor.item()
                if not key.startswith(self._prefix):
                    return
                yield key[len(self._prefix) :], value
                found = cursor.next()

    def put(self, txn: Transaction[memoryview], key: bytes, value: bytes | None) -> None:
        """None deletes it."""
        if value is None:
            txn.delete(self._prefix + key, db=self._rows)
        else:
            txn.put(self._prefix + key, value, db=self._rows)

    def put_at_once(self, key: bytes, value: bytes) -> None:
        """In a commit of its own, while no pass is under way."""
        with self._env.begin(write=True, buffers=True) as txn:
            self.put(txn, key, value)
