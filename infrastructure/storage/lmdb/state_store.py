"""Rows in LMDB: the key is the table's name, NUL and the row's key.

LMDB's keys end at 511 bytes, while group ids and the like may be longer: such a row's key is cut,
closed with a digest, and stands in full before the value. Exactly these keys have the full length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import lmdb

from application.ports.state_store import RowChange
from infrastructure.storage.lmdb.commit import WritePass, storage_failed
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.identity import LOSSES_ROW

_LONGEST = 511
_DIGEST_BYTES = 32
_LENGTH_BYTES = 4
#: The engine's facts about the store itself.
_OWN_TABLE = b"store"


class LmdbStateStore:
    __slots__ = ("_env", "_pass", "_rows")

    def __init__(self, environment: LmdbEnvironment, write_pass: WritePass) -> None:
        self._env = environment.env
        self._rows = environment.rows
        self._pass = write_pass

    def get(self, table: str, key: bytes) -> bytes | None:
        row_key = _row_key(table, key)
        try:
            with self._env.begin() as txn:
                value = txn.get(row_key, db=self._rows)
        except lmdb.Error as error:
            raise storage_failed("could not read", error) from error
        if value is None or len(row_key) < _LONGEST:
            return value
        return value[_LENGTH_BYTES + len(key) :]

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        txn = self._pass.txn or self._pass.begin()
        if txn is None:
            return
        row_key = _row_key(table, key)
        try:
            if value is None:
                txn.delete(row_key, db=self._rows)  # False: there was none, which is as good
                return
            if len(row_key) == _LONGEST:
                value = len(key).to_bytes(_LENGTH_BYTES, "big") + key + value
            if not txn.put(row_key, value, db=self._rows):
                self._pass.fail(f"table {table} refused a row")
        except lmdb.Error as error:
            self._pass.fail(error, len(value or b""))

    def put_all(self, table: str, rows: Sequence[RowChange]) -> None:
        prefix = table.encode() + b"\0"
        longest = _LONGEST - len(prefix)
        plain = [
            (prefix + key, value) for key, value in rows if value is not None and len(key) < longest
        ]
        if len(plain) < len(rows):
            for key, value in rows:
                self.put(table, key, value)
            return
        txn = self._pass.txn or self._pass.begin()
        if txn is None:
            return
        try:
            put, _ = txn.cursor(self._rows).putmulti(plain)
            if put < len(plain):
                self._pass.fail(f"table {table} refused a row")
        except lmdb.Error as error:
            self._pass.fail(error, sum(len(value) for _, value in plain))

    def follow(self, table: str, changed: Callable[[Sequence[bytes]], None]) -> None:
        """Only this broker changes rows."""

    def scan(
        self, table: str, first: bytes = b"", limit: int | None = None
    ) -> list[tuple[bytes, bytes]]:
        prefix = table.encode() + b"\0"
        rows: list[tuple[bytes, bytes]] = []
        cut_keys = False
        try:
            with self._env.begin() as txn:
                cursor = txn.cursor(self._rows)
                found = cursor.set_range(prefix + first)
                while found and (limit is None or len(rows) < limit):
                    row_key, value = cursor.item()
                    if not row_key.startswith(prefix):
                        break
                    if len(row_key) < _LONGEST:
                        rows.append((row_key[len(prefix) :], value))
                    else:
                        rows.append(_whole_row(value))
                        cut_keys = True
                    found = cursor.next()
        except lmdb.Error as error:
            raise storage_failed("could not read", error) from error
        if cut_keys:
            rows.sort()
        return rows

    def tables(self) -> list[str]:
        tables: list[str] = []
        try:
            with self._env.begin() as txn:
                cursor = txn.cursor(self._rows)
                found = cursor.first()
                while found:
                    name = cursor.key().partition(b"\0")[0]
                    if name != _OWN_TABLE:
                        tables.append(name.decode())
                    found = cursor.set_range(name + b"\1")
        except lmdb.Error as error:
            raise storage_failed("could not read", error) from error
        return tables


def raise_leader_epoch(state: LmdbStateStore, losses: int, epoch: int) -> None:
    """Stages that the next start has at least this leader epoch."""
    table, _, key = LOSSES_ROW.partition(b"\0")
    state.put(table.decode(), key, b"%d" % max(epoch, losses))


def _row_key(table: str, key: bytes) -> bytes:
    row_key = table.encode() + b"\0" + key
    if len(row_key) < _LONGEST:
        return row_key
    import hashlib

    return row_key[: _LONGEST - _DIGEST_BYTES] + hashlib.sha256(row_key).digest()


def _whole_row(value: bytes) -> tuple[bytes, bytes]:
    key_end = _LENGTH_BYTES + int.from_bytes(value[:_LENGTH_BYTES], "big")
    return value[_LENGTH_BYTES:key_end], value[key_end:]
