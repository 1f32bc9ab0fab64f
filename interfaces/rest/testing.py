"""Testing: what the routes under /test/ use of a broker with `testing`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol


class Fault(Protocol):
    fault_id: int


class Faults(Protocol):
    @property
    def apis(self) -> Collection[str]: ...
    @property
    def errors(self) -> Collection[str]: ...
    def add(self, api: str, **fields: Any) -> Fault: ...
    def move_coordinator(self, group: str) -> Fault: ...
    def all(self) -> Sequence[Fault]: ...
    def remove(self, fault_id: int) -> bool:
        """Returns False if there is none."""
        ...

    def clear(self) -> None: ...


class Testing(Protocol):
    @property
    def faults(self) -> Faults: ...

    @property
    def advanced_ms(self) -> int:
        """How far the clock was advanced, in all."""
        ...

    async def advance(self, by_ms: int) -> None:
        """Returns when timers that are due have fired."""
        ...

    def take_snapshot(self) -> str:
        """Returns its id."""
        ...

    async def restore_snapshot(self, snapshot_id: str) -> None:
        """Raises ResourceNotFound."""
        ...

    async def delete_snapshot(self, snapshot_id: str) -> None:
        """Raises ResourceNotFound."""
        ...
