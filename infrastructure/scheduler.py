from __future__ import annotations

import asyncio
from collections.abc import Callable


class AsyncioScheduler:
    """On one event loop. A callback of `soon` runs in the loop's next pass, before that pass reads
    from any connection: asyncio and uvloop both run the callbacks they have before newer events.
    """

    __slots__ = ("_loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def soon(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon(callback)

    def from_thread(self, callback: Callable[[], None]) -> None:
        """For threads, which wait beside the loop. Raises RuntimeError when the loop is closed."""
        self._loop.call_soon_threadsafe(callback)

    def after_ms(self, delay_ms: int, callback: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_later(delay_ms / 1000, callback)
