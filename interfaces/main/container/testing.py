"""Testing: what a broker with `testing` offers to tests. Imported only for such a broker."""

from __future__ import annotations

import asyncio

from infrastructure.adjustable_time import AdjustableClock, AdjustableScheduler
from interfaces.kafka.requests.faults import Faults


class BrokerTesting:
    """Implements interfaces.rest.testing.Testing."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.clock = AdjustableClock()
        self.scheduler = AdjustableScheduler(loop, self.clock)
        self.faults = Faults(self.scheduler)

    @property
    def advanced_ms(self) -> int:
        return self.clock.advanced_ms

    async def advance(self, by_ms: int) -> None:
        await self.scheduler.advance(by_ms)
