"""OffsetsHome: what the log's store knows of where committed offsets are. One place at a time.

cluster         offsets -> JSON: id of the database that has them, and its URL without secrets

Without that row they are rows of the store. They move into a database that is set later:

    the store's rows -> the database, in one transaction
    the database's id -> the store, whose rows are deleted, in one commit
    the database records that it has them

Whoever stops in between begins again: the store decides, and a database that it does not name has
nothing that counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from application.ports.event_log import EventLog
from application.ports.offset_repository import OffsetRow
from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from infrastructure.storage.errors import OffsetsUnusable, StorageUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.repositories.numbered_offsets import OUTBOX, NumberedOffsets
from infrastructure.storage.repositories.offset_repository import (
    StoredOffsetRepository,
    WhenCommitted,
)

_CLUSTER = "cluster"
_OFFSETS = b"offsets"


class KnownDatabase(NamedTuple):
    database_id: str
    #: Its URL, as it may be shown.
    place: str


def known_database(state: StateStore) -> KnownDatabase | None:
    row = state.get(_CLUSTER, _OFFSETS)
    return None if row is None else KnownDatabase(**json.loads(row))


class OffsetsHome:
    def __init__(self, state: StateStore, when_committed: WhenCommitted, events: EventLog) -> None:
        self._state = state
        self.when_committed = when_committed
        self._stored = StoredOffsetRepository(state, when_committed)
        #: Offsets of transactions that the database does not have yet, by rising numbers.
        self.outbox = NumberedOffsets(state, OUTBOX)
        self._events = events
        #: None: they are in the store.
        self.known = known_database(state)

    def refuse_database(self) -> None:
        """Raises OffsetsUnusable if they are in a database."""
        if self.known is not None:
            raise OffsetsUnusable(where_they_are(self.known))

    def rows(self) -> list[OffsetRow]:
        """Those in the store."""
        found: list[OffsetRow] = []
        self._stored.load(found.extend, lambda: None)
        return found

    def moved(self, to: KnownDatabase, then: Callable[[StorageFailed | None], None]) -> None:
        """The database has them, durably: from now on it counts, and not the store."""
        there = json.dumps(to._asdict()).encode()
        rows = self._drop(there, then)
        if rows:
            self._events.info("offsets_moved", offsets=rows, database=to.place)

    def give_up(self) -> None:
        """Discards them for good, wherever they are."""
        for number, row in list(self.outbox.load()):
            self.outbox.save(number, [(*row[:3], None)])
        rows = self._drop(None, lambda failure: None)
        if rows or self.known is not None:
            previous = "the store" if self.known is None else self.known.place
            self._events.warning("offsets_discarded", previous=previous)

    def _drop(self, there: bytes | None, then: Callable[[StorageFailed | None], None]) -> int:
        rows = self.rows()
        if there is None and not rows and self.known is None:
            return 0
        self._state.put(_CLUSTER, _OFFSETS, there)
        self._stored.apply([(*row[:3], None) for row in rows], then)
        return len(rows)


class OffsetsContext(NamedTuple):
    """What a place of their own is opened with."""

    home: OffsetsHome
    store_id: str
    flush: Flush
    to_loop: Callable[[Callable[[], None]], object]
    #: Called later, on the loop, with a database that is found not to be this store's.
    unusable: Callable[[StorageUnusable], None]
    events: EventLog


def where_they_are(known: KnownDatabase) -> str:
    return (
        f"this store's committed offsets are in {known.place}: set offsets to that, "
        "or start once with offsets=memory:// to discard them"
    )
