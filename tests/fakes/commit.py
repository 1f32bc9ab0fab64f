"""A commit over the memory engine that tests hold, release or fail.

While it is held, newly staged data belongs to the next commit, as the port promises; a failure
discards both.
"""

from __future__ import annotations

from collections.abc import Callable

from domain.errors import StorageFailed
from infrastructure.storage.memory.store import MemoryStore

Done = Callable[[StorageFailed | None], None]


class FakeCommit:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._done: Done | None = None
        self._held_changes: list[Callable[[], None]] = []
        self._held_lengths: dict[int, int] = {}
        self._held_drops: dict[int, int] = {}
        self.holding = False
        self.count = 0
        #: The next commits end with these, one each.
        self.failures: list[StorageFailed] = []
        #: Called when a commit begins.
        self.on_begin: Callable[[], None] = lambda: None

    @property
    def under_way(self) -> bool:
        return self._done is not None

    def fail_next(self, why: str = "the disk is full") -> None:
        self.failures.append(StorageFailed(why))

    def commit(self, done: Done, waits: bool = False) -> None:
        assert self._done is None, "a commit is under way"
        self.count += 1
        self.on_begin()
        self._held_changes = list(self._store.staged)
        self._held_lengths = dict(self._store.staged_lengths)
        self._held_drops = dict(self._store.staged_drops)
        self._store.staged.clear()
        self._done = done
        if not self.holding:
            self._finish(self.failures.pop(0) if self.failures else None)

    def hold(self) -> None:
        self.holding = True

    def let_go(self) -> None:
        """Completes the commit under way; later ones are not held."""
        self.holding = False
        self._finish(None)

    def let_fail(self, why: str = "the disk is full") -> None:
        self.holding = False
        self._finish(StorageFailed(why))

    def _finish(self, failure: StorageFailed | None) -> None:
        done, self._done = self._done, None
        assert done is not None, "no commit is under way"
        if failure is None:
            self._persist()
        else:
            self._store.forget()
        self._held_changes = []
        self._held_lengths = {}
        self._held_drops = {}
        done(failure)

    def _persist(self) -> None:
        for change in self._held_changes:
            change()
        for partition_id, length in self._held_lengths.items():
            self._store.lengthen(partition_id, -length)
        for partition_id, count in self._held_drops.items():
            self._store.staged_drops[partition_id] -= count

    def close(self) -> None:
        self._store.forget()
