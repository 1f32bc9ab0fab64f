"""StateStore: small rows beside the log, in the same commit: a key's newest value, or none."""

from __future__ import annotations

from typing import Protocol


class StateStore(Protocol):
    """`put` is staged like `LogStore.append`; `get` and `scan` see committed rows only."""

    def get(self, table: str, key: bytes) -> bytes | None: ...

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        """Stages the newest value of a row; None deletes it."""
        ...

    def scan(self, table: str) -> list[tuple[bytes, bytes]]:
        """All rows of a table in the order of their keys."""
        ...
