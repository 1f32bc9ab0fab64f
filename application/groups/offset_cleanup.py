"""OffsetCleanup: removes committed offsets of deleted topics from the store, in slices.

They are no longer in memory. After a restart, or by another node, the rest is found when offsets
are loaded: their topics do not exist.
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
        self._offsets.on_loaded(self._begin_stale)

    def forget(self, topics: Iterable[Topic]) -> None:
        self._begin(self._offsets.forget(topics))

    def _begin_stale(self) -> None:
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
                yield PAUSE  # commits of all of them are in flight
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
            elif not self._offsets.coordinates(row[0]):
                continue  # the coordinator of its group finds it
            # If the topic was created again and committed to, the row belongs to the new topic.
            elif not self._offsets.has(*row[:3]):
                rows.append(row)
        return rows
