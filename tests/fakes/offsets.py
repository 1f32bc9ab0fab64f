"""Committed offsets: a repository whose writes tests complete."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from application.ports.event_log import EventLog
from application.ports.offset_repository import OffsetRow, OffsetWrite
from domain.errors import StorageFailed
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.offsets_home import OffsetsHome

Done = Callable[[StorageFailed | None], None]


def offsets_home(
    store: MemoryStore, events: EventLog, persisted: Callable[[], None] = lambda: None
) -> OffsetsHome:
    """Over rows in memory; commits complete at once."""

    def when_committed(then: Done) -> None:
        store.keep()
        persisted()
        then(None)

    return OffsetsHome(MemoryStateStore(store), when_committed, events)


class HeldOffsetRepository:
    def __init__(self, leaves_doubt: bool = False) -> None:
        self.leaves_doubt = leaves_doubt
        self._take: Callable[[Sequence[OffsetRow]], None] | None = None
        self._done: Callable[[], None] | None = None
        #: Pending writes, oldest first.
        self.waiting: deque[tuple[Sequence[OffsetWrite], Done]] = deque()

    def load(self, take: Callable[[Sequence[OffsetRow]], None], done: Callable[[], None]) -> None:
        self._take, self._done = take, done

    def load_groups(self, includes: Callable[[str], bool]) -> list[OffsetRow]:
        return []

    def load_rows(self, rows: Sequence[OffsetRow]) -> None:
        assert self._take is not None
        self._take(rows)

    def finish_loading(self) -> None:
        assert self._done is not None
        self._done()

    def apply(self, writes: Sequence[OffsetWrite], done: Done) -> None:
        self.waiting.append((writes, done))

    apply_with_log = apply

    def complete(self, failure: StorageFailed | None = None) -> Sequence[OffsetWrite]:
        """Completes or fails the oldest pending write."""
        writes, done = self.waiting.popleft()
        done(failure)
        return writes

    def close(self) -> None:
        pass
