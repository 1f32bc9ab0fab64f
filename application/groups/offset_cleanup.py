"""OffsetCleanup: committed offsets of deleted topics are removed from the store a slice at a time.

They are out of memory already. A restart continues where this run stopped: an offset in the store
whose topic does not exist is found when offsets are loaded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from application.background.job import PAUSE, SLICE, Job, Outcome
from application.background.runner import Runner
from application.groups.offsets import Offsets
from application.ports.offset_repository import OffsetWrite
from application.ports.pending import Pending
from domain.topics.topic import Topic

ROWS_PER_WRITE = 100


class OffsetCleanup:
    def __init__(self, offsets: Offsets, background: Runner) -> None:
        self._offsets = offsets
        self._background = background
        self._rows: deque[OffsetWrite] = deque()

    def __len__(self) -> int:
        return len(self._rows)

    def start(self) -> None:
        self._offsets.on_loaded(self._begin_with_stale)

    def forget(self, topics: Iterable[Topic]) -> None:
        self._begin(self._offsets.forget(topics))

    def _begin_with_stale(self) -> None:
        stale, self._offsets.stale = self._offsets.stale, []
        self._begin(stale)

    def _begin(self, rows: Iterable[OffsetWrite]) -> None:
        self._rows.extend(rows)
        if self._rows:
            self._background.start(self._drop)

    def _drop(self) -> Job[None]:
        while self._rows:
            yield SLICE
            rows = self._next_rows()
            if not rows:
                yield PAUSE  # commits of all of them are under way
            else:
                dropped: Pending[Outcome] = Pending()
                self._offsets.drop(rows, dropped.resolve)
                if (yield dropped) is not None:
                    self._rows.extend(rows)

    def _next_rows(self) -> list[OffsetWrite]:
        rows = []
        for row in [self._rows.popleft() for _ in range(min(ROWS_PER_WRITE, len(self._rows)))]:
            if self._offsets.is_pending(*row[:3]):
                self._rows.append(row)
            # Where the topic was created again and committed to, the row is of the new one.
            elif not self._offsets.has(*row[:3]):
                rows.append(row)
        return rows
