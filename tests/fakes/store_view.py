"""StoreView: a store in memory that several brokers share, and the staged changes of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from application.ports.state_store import RowChange
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.repositories.scopes import MARKERS

if TYPE_CHECKING:
    from tests.fakes.shared_store import SharedStore

Changed = Callable[[Sequence[bytes]], None]
Row = tuple[str, bytes]


class StoreView(MemoryStore):
    __slots__ = ("changed", "followers", "is_over", "news", "shared", "staged_rows", "wake")

    def __init__(self, shared: SharedStore) -> None:
        super().__init__()
        self.shared = shared
        self.look()
        self.followers: dict[str, list[Changed]] = {}
        self.staged_rows: dict[Row, bytes | None] = {}
        #: Rows that the commit under way changes; rows that others have changed.
        self.changed: list[Row] = []
        self.news: list[Row] = []
        self.is_over = False
        self.wake: Callable[[], None] = lambda: None
        shared.views.append(self)

    def look(self) -> None:
        """At the data that is shared now: until then at that before it went back."""
        data = self.shared.data
        self.partitions, self.tables, self.keys = data.partitions, data.tables, data.keys

    def end(self) -> None:
        self.is_over = True
        self.shared.views.remove(self)

    def forget(self) -> None:
        super().forget()
        self.staged_rows = {}

    def publish(self) -> None:
        changed, self.changed = self.changed, []
        for other in self.shared.views:
            if other is not self and changed:
                other.news += changed
                other.wake()

    def learn(self) -> None:
        """What others have changed."""
        news, self.news = self.news, []
        for table, calls in self.followers.items():
            keys = list(dict.fromkeys(key for of, key in news if of == table))
            for call in calls if keys else ():
                call(keys)


class SharedStateStore(MemoryStateStore):
    __slots__ = ()

    _store: StoreView

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        self._store.staged_rows[table, key] = value
        super().put(table, key, value)

    def put_all(self, table: str, rows: Sequence[RowChange]) -> None:
        for key, value in rows:
            self.put(table, key, value)

    def _change(self, table: str, key: bytes, value: bytes | None) -> None:
        if table == MARKERS and value is None:
            assert self.get(table, key) is not None, "a marker is written twice"
        super()._change(table, key, value)
        self._store.changed.append((table, key))

    def follow(self, table: str, changed: Changed) -> None:
        self._store.followers.setdefault(table, []).append(changed)
