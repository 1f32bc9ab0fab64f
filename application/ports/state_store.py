"""StateStore: small rows by key, in the same commit as the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

#: A key and its new value; None: the row is deleted.
RowChange = tuple[bytes, bytes | None]


class StateStore(Protocol):
    """`put` stages changes like `LogStore.append`; `get` and `scan` see committed rows only."""

    def get(self, table: str, key: bytes) -> bytes | None: ...

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        """Stages the value of a row; None deletes it."""
        ...

    def put_all(self, table: str, rows: Sequence[RowChange]) -> None:
        """Like `put` for each row, but faster."""
        ...

    def scan(
        self, table: str, first: bytes = b"", limit: int | None = None
    ) -> list[tuple[bytes, bytes]]:
        """The rows of a table by key: all, or up to `limit` from `first` on.

        Keys of tables that are read in parts have up to 400 bytes.
        """
        ...

    def follow(self, table: str, changed: Callable[[Sequence[bytes]], None]) -> None:
        """Calls back with the keys of rows that another broker has changed, when `get` and `scan`
        see that. Never in a store that only this broker writes.
        """
        ...

    def tables(self) -> list[str]:
        """The tables that have rows, by name."""
        ...
