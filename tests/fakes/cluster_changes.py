"""The right to change shared rows, and a guard against changes without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from application.ports.state_store import RowChange
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.repositories.scopes import is_shared
from tests.fakes.scheduler import FakeScheduler


class FakeChanges:
    """Gives the right at once, until the end of the pass or the next commit, unless a test
    withholds it.
    """

    def __init__(self, scheduler: FakeScheduler) -> None:
        self._scheduler = scheduler
        self._taken_in: int | None = None
        self._waiting: list[Pending[None]] = []
        self._is_withheld = False
        #: How many may have it; None: all.
        self._given_to: int | None = None
        self._then: Callable[[], None] | None = None
        #: Rows that are staged without the right fail the test.
        self.guards = False
        self.first_epoch = 0
        self.losses = 0

    def check(self) -> None:
        if self._is_withheld:
            self._waiting.append(Pending())
            if self._then is not None:
                self._scheduler.soon(self._then)
            raise NotInMemory(self._waiting[-1])
        self._taken_in = self._scheduler.passes
        if self._given_to is not None:
            self._given_to -= 1
            self._is_withheld = not self._given_to

    def on_promoted(self, call: Callable[[], None]) -> None:
        pass

    def end(self) -> None:
        """A commit begins."""
        self._taken_in = None

    def withhold(self, then: Callable[[], None] | None = None) -> None:
        """Another broker has the right. `then` is called a pass after a caller waits for it."""
        self._is_withheld = True
        self._then = then

    @property
    def waiting(self) -> int:
        """Callers that wait for the right."""
        return len(self._waiting)

    def give(self, callers: int | None = None) -> None:
        """The other broker has committed. It gets the right again after so many callers."""
        self._is_withheld, self._given_to = False, callers
        waiting, self._waiting = self._waiting, []
        for pending in waiting:
            pending.resolve(None)

    def check_taken(self, table: str) -> None:
        if self.guards and is_shared(table):
            assert self._taken_in == self._scheduler.passes, f"no right to change {table}"


class GuardedState(MemoryStateStore):
    def __init__(self, store: MemoryStore, changes: FakeChanges) -> None:
        super().__init__(store)
        self._changes = changes

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        self._changes.check_taken(table)
        super().put(table, key, value)

    def put_all(self, table: str, rows: Sequence[RowChange]) -> None:
        self._changes.check_taken(table)
        super().put_all(table, rows)
