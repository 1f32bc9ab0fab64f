"""OffsetRepository: committed offsets, wherever they are kept; reads come from memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from domain.errors import StorageFailed
from domain.groups.offsets import CommittedOffset

#: Group id, topic, partition, and what is committed there now; None: nothing any more.
OffsetWrite = tuple[str, str, int, CommittedOffset | None]
OffsetRow = tuple[str, str, int, CommittedOffset]


class OffsetRepository(Protocol):
    """Everybody is called back on the loop."""

    #: Whether what was told to have failed may be kept all the same: a server that went away
    #: between a commit and its answer. Whoever applied it then says again what is true.
    leaves_doubt: bool

    def load(self, take: Callable[[Sequence[OffsetRow]], None], done: Callable[[], None]) -> None:
        """Gives all that is kept, in parts, now or later, and then says so.

        Called once, before anything is applied. Where the store cannot be read yet it is tried
        again and again. Raises StorageFailed where no other try is of use.
        """
        ...

    def apply(
        self, writes: Sequence[OffsetWrite], done: Callable[[StorageFailed | None], None]
    ) -> None:
        """Keeps all of the writes or none; of two for one partition the later one counts.

        `done` is called once, in this call or later: with None when all is durable under the flush
        policy, with the failure when nothing is kept (but see `leaves_doubt`). What was applied
        first is kept, and called back for, first. A failure is never reported in this call: the
        caller has to know first that it waits.
        """
        ...

    def close(self) -> None:
        """Keeps what is applied already, and releases the store."""
        ...
