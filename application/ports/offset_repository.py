"""OffsetRepository: the store of committed offsets. They are read once, at start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from domain.errors import StorageFailed
from domain.groups.offsets import CommittedOffset

#: Group id, topic, partition and the committed offset; None: deleted.
OffsetWrite = tuple[str, str, int, CommittedOffset | None]
OffsetRow = tuple[str, str, int, CommittedOffset]


class OffsetRepository(Protocol):
    """All callbacks run on the loop."""

    #: A failed write may be persisted all the same: a database server may disconnect between a
    #: commit and its response. The caller then writes the right state again.
    leaves_doubt: bool

    def load(self, take: Callable[[Sequence[OffsetRow]], None], done: Callable[[], None]) -> None:
        """Calls `take` with all rows, in parts, now or later, and then `done`.

        Called once, before `apply`. Retries while the store cannot be read; raises StorageFailed if
        retries are useless.
        """
        ...

    def apply(
        self, writes: Sequence[OffsetWrite], done: Callable[[StorageFailed | None], None]
    ) -> None:
        """Persists all of the writes or none; of two for one partition the later one counts.

        `done` is called once, in this call or later: with None when all is durable under the flush
        policy, with the failure when nothing is persisted (but see `leaves_doubt`). Writes are
        persisted, and called back, in order. A failure is never reported within this call: the
        caller is not prepared for it yet.
        """
        ...

    def close(self) -> None:
        """Persists all applied writes, and releases the store."""
        ...
