"""Forgetting: committed offsets of topics that are gone leave the store a slice at a time.

They are out of memory already. A restart goes on where this one stopped: what is in the store and
of no topic is found when it is loaded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from application.groups.offsets import Offsets
from application.ports.offset_repository import OffsetWrite
from application.upkeep.spare_time import SpareTime
from domain.errors import StorageFailed
from domain.topics.topic import Topic

ROWS_PER_SLICE = 100
PAUSE_MS = 2
RETRY_MS = 1000


class Forgetting:
    def __init__(self, offsets: Offsets, spare_time: SpareTime) -> None:
        self._offsets = offsets
        self._spare_time = spare_time
        self._rows: deque[OffsetWrite] = deque()
        self._busy = False

    def __len__(self) -> int:
        return len(self._rows)

    def start(self) -> None:
        self._offsets.when_loaded(self._begin_with_stale)

    def forget(self, topics: Iterable[Topic]) -> None:
        self._begin(self._offsets.forget(topics))

    def _begin_with_stale(self) -> None:
        stale, self._offsets.stale = self._offsets.stale, []
        self._begin(stale)

    def _begin(self, rows: Iterable[OffsetWrite]) -> None:
        self._rows.extend(rows)
        self._next_after(PAUSE_MS)

    def _next_after(self, delay_ms: int) -> None:
        if self._rows and not self._busy:
            self._busy = True
            self._spare_time.after_ms(delay_ms, self._drop_slice)

    def _drop_slice(self) -> None:
        offsets = self._offsets
        rows = []
        for row in [self._rows.popleft() for _ in range(min(ROWS_PER_SLICE, len(self._rows)))]:
            if offsets.is_being_committed(*row[:3]):
                self._rows.append(row)
            # Where the topic was made again and something committed, the row is of the new one.
            elif not offsets.has(*row[:3]):
                rows.append(row)
        if rows:
            offsets.drop(rows, lambda failure: self._done(rows, failure))
        else:
            self._done(rows, None)

    def _done(self, rows: list[OffsetWrite], failure: StorageFailed | None) -> None:
        self._busy = False
        if failure is not None:
            self._rows.extend(rows)
        self._next_after(PAUSE_MS if failure is None else RETRY_MS)
