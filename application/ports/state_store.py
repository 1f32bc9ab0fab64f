"""StateStore: small rows beside the log, in the same commit: a key's newest value, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

#: A key and the newest value, or None: the row is deleted.
RowChange = tuple[bytes, bytes | None]


class StateStore(Protocol):
    """What is put is staged like `LogStore.append`; `get` and `scan` see committed rows only."""

    def get(self, table: str, key: bytes) -> bytes | None: ...

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        """Stages the newest value of a row; None deletes it."""
        ...

    def put_all(self, table: str, rows: Sequence[RowChange]) -> None:
        """As `put` would, one after the other; for many rows at once this costs less."""
        ...

    def scan(
        self, table: str, first: bytes = b"", limit: int | None = None
    ) -> list[tuple[bytes, bytes]]:
        """The rows of a table in the order of their keys: all, or up to `limit` from `first` on.

        A table that is read in parts has keys of up to 400 bytes.
        """
        ...

    def tables(self) -> list[str]:
        """The tables that have rows, in the order of their names."""
        ...
