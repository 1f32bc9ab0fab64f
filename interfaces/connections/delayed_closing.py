"""DelayedClosing: refused connections that stay open for a moment.

A client that reconnects at once would otherwise use more of the broker than one that is served.
"""

from __future__ import annotations

import asyncio
from functools import partial

from application.ports.scheduler import Scheduler, Timer

#: More are closed at once.
MAX_DELAYED = 1000


class DelayedClosing:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._timers: dict[asyncio.Transport, Timer] = {}

    def close_after(self, transport: asyncio.Transport, delay_ms: int) -> None:
        """Nothing is read meanwhile."""
        if not delay_ms or len(self._timers) >= MAX_DELAYED:
            transport.abort()
            return
        transport.pause_reading()
        timer = self._scheduler.after_ms(delay_ms, partial(self._close, transport))
        self._timers[transport] = timer

    def _close(self, transport: asyncio.Transport) -> None:
        del self._timers[transport]
        transport.abort()

    def close_all(self) -> None:
        for transport, timer in self._timers.items():
            timer.cancel()
            transport.abort()
        self._timers.clear()
