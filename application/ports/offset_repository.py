"""The stores of offsets. They are read at start, and when the coordinator of groups changes.

OffsetRepository          committed offsets
PendingOffsetRepository   offsets of open transactions, always in the log's commits
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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

    def load_groups(self, includes: Callable[[str], bool]) -> Iterable[OffsetRow]:
        """The rows of the groups that `includes` returns True for, at once.

        Never called of a store that only this broker writes.
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

    def apply_with_log(
        self, writes: Sequence[OffsetWrite], done: Callable[[StorageFailed | None], None]
    ) -> None:
        """Like `apply`, for offsets that a transaction commits: the log's next commit decides.

        `done` is called with a failure only if that commit fails. After it the writes are persisted
        as soon as the store succeeds, in the order of all calls, also after a restart.
        """
        ...

    def close(self) -> None:
        """Persists all applied writes, and releases the store."""
        ...


class PendingOffsetRepository(Protocol):
    def load(
        self, producer_id: int | None = None, includes: Callable[[str], bool] | None = None
    ) -> Iterable[tuple[int, OffsetRow]]:
        """All committed rows, or those of one producer, with their producer ids; with `includes`
        those of the groups that it returns True for.
        """
        ...

    def save(self, producer_id: int, writes: Sequence[OffsetWrite]) -> None:
        """Stages rows."""
        ...
