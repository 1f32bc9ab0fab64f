"""Testing: what a broker with `testing` offers to tests. Imported only for such a broker."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable

from domain.errors import InvalidRequest, ResourceNotFound
from infrastructure.adjustable_time import AdjustableClock, AdjustableScheduler
from infrastructure.storage.engine import StoreSnapshot
from interfaces.kafka.requests.faults import Faults

MAX_SNAPSHOTS = 100

#: Adds rows to a commit.
Stage = Callable[[], object]
#: Stops the broker, calls back to replace the data, and composes the broker again.
Restore = Callable[[Callable[[Stage], None]], Awaitable[None]]


class BrokerTesting:
    """Implements interfaces.rest.testing.Testing."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.clock = AdjustableClock()
        self.scheduler = AdjustableScheduler(loop, self.clock)
        self.faults = Faults(self.scheduler)
        self._snapshots: dict[str, StoreSnapshot] = {}
        self._take: Callable[[], StoreSnapshot] | None = None
        self._restore: Restore | None = None
        self._restoring = asyncio.Lock()

    def use(self, take: Callable[[], StoreSnapshot] | None, restore: Restore) -> None:
        """`take` is None if committed offsets are not in the store."""
        self._take, self._restore = take, restore

    @property
    def advanced_ms(self) -> int:
        return self.clock.advanced_ms

    async def advance(self, by_ms: int) -> None:
        await self.scheduler.advance(by_ms)

    # ---- snapshots

    def take_snapshot(self) -> str:
        if self._take is None:
            raise InvalidRequest("snapshots need committed offsets in the store: `offsets` is set")
        if len(self._snapshots) >= MAX_SNAPSHOTS:
            raise InvalidRequest(f"there are {MAX_SNAPSHOTS} snapshots: delete some")
        snapshot_id = secrets.token_hex(8)
        self._snapshots[snapshot_id] = self._take()
        return snapshot_id

    async def restore_snapshot(self, snapshot_id: str) -> None:
        assert self._restore is not None
        async with self._restoring:
            await self._restore(self._existing(snapshot_id).restore)

    async def delete_snapshot(self, snapshot_id: str) -> None:
        async with self._restoring:
            self._existing(snapshot_id).delete()
            del self._snapshots[snapshot_id]

    def delete_snapshots(self) -> None:
        while self._snapshots:
            self._snapshots.popitem()[1].delete()

    def _existing(self, snapshot_id: str) -> StoreSnapshot:
        snapshot = self._snapshots.get(snapshot_id)
        if snapshot is None:
            raise ResourceNotFound(f"there is no snapshot {snapshot_id}")
        return snapshot
