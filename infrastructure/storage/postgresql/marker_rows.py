"""MarkerRows: the rows of the table `markers`, which all brokers have, and any broker changes.

They are few, and read as a whole: when the database tells of a change, and with what a broker
gains. Two threads read them, and what they have read may be older than a commit of this broker, or
than what the other thread has read. So a read has a number, and so has each commit:

    a read that began before the newest one  is dropped
    commits after its begin                  are applied to it again; a later read is due then

A row may be here that a leader has removed, for a moment: then the commit that would remove it
again fails (`statement.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import NamedTuple

from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.repositories.scopes import MARKERS, ScopeKind

#: Of NOTIFY.
CHANGED = "markers"

_ALL = 'select place, value from ottla_rows where kind = %s and "table" = %s'

Change = tuple[bytes, bytes | None]


class MarkersRead(NamedTuple):
    number: int
    rows: Mapping[bytes, bytes]


NOT_READ = MarkersRead(0, {})


class MarkerRows:
    def __init__(self) -> None:
        self._numbers = count(1)
        self._newest = 0
        #: By key, what this broker has changed, and the number of its commit.
        self._own: dict[bytes, tuple[int, bytes | None]] = {}

    def read(self, connection: Rows) -> MarkersRead:
        """From any thread. Raises psycopg.Error."""
        number = next(self._numbers)
        values = ScopeKind.MARKER.value, MARKERS
        found = connection.execute(_ALL.encode(), values, binary=True).fetchall()
        return MarkersRead(number, dict(found))

    def committed(self, changes: Iterable[Change]) -> None:
        """By this broker."""
        number = next(self._numbers)
        for key, value in changes:
            self._own[key] = number, value

    def changes(self, found: MarkersRead, known: Iterable[tuple[bytes, bytes]]) -> list[Change]:
        """Of the rows that are known."""
        if found.number < self._newest:
            return []
        self._newest = found.number
        self._own = {key: one for key, one in self._own.items() if one[0] > found.number}
        rows: dict[bytes, bytes | None] = {**found.rows}
        rows |= {key: value for key, (_, value) in self._own.items()}
        before = dict(known)
        changed: list[Change] = [(key, None) for key in before if rows.get(key) is None]
        changed += (
            (key, row) for key, row in rows.items() if row is not None and key not in before
        )
        return changed
