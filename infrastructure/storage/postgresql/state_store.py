"""Rows in PostgreSQL, of which those that this broker needs are in memory."""

from __future__ import annotations

from collections.abc import Sequence

from application.ports.state_store import RowChange
from infrastructure.storage.postgresql.contents import Contents


class PostgresStateStore:
    __slots__ = ("_contents", "follow", "get", "scan", "tables")

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self.get, self.scan = contents.state.get, contents.state.scan
        self.tables = contents.state.tables
        self.follow = contents.follow

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        self._contents.staged.rows[table, key] = value

    def put_all(self, table: str, rows: Sequence[RowChange]) -> None:
        staged = self._contents.staged.rows
        for key, value in rows:
            staged[table, key] = value
