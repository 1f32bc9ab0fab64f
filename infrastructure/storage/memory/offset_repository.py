"""Committed offsets in memory only (`offsets=memory://`): the service has them already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from application.ports.offset_repository import OffsetRow, OffsetWrite
from domain.errors import StorageFailed
from infrastructure.storage.offsets_home import OffsetsContext
from infrastructure.storage.repositories.offset_repository import WhenCommitted


class MemoryOffsetRepository:
    __slots__ = ("_when_committed",)

    leaves_doubt = False

    def __init__(self, when_committed: WhenCommitted) -> None:
        self._when_committed = when_committed

    def load(self, take: Callable[[Sequence[OffsetRow]], None], done: Callable[[], None]) -> None:
        done()

    def load_groups(self, includes: Callable[[str], bool]) -> Iterable[OffsetRow]:
        return ()

    def apply(
        self, writes: Sequence[OffsetWrite], done: Callable[[StorageFailed | None], None]
    ) -> None:
        done(None)

    def apply_with_log(
        self, writes: Sequence[OffsetWrite], done: Callable[[StorageFailed | None], None]
    ) -> None:
        self._when_committed(done)

    def close(self) -> None:
        pass


def in_memory(_: str, context: OffsetsContext) -> MemoryOffsetRepository:
    context.home.give_up()
    return MemoryOffsetRepository(context.home.when_committed)
