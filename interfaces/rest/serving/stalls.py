"""Stalls: whoever takes nothing, with something waiting for it, is disconnected. Here alone.

It is the connection that is watched, whatever waits there: an answer that comes in pieces, many
short ones, or the last one of a connection that was closed already. A client that takes a little
now and then is slow, and stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

#: Nothing taken for so long is a stall.
STALL_S = 30.0
#: It is looked so often in that time, so nobody stays for longer than by the seventh part.
LOOKS = 7


class CountingTransport:
    """A transport that knows how much of what was written the client's side has taken."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._written = 0

    def write(self, data: bytes) -> None:
        self._written += len(data)
        self._transport.write(data)

    @property
    def waiting(self) -> int:
        return self._transport.get_write_buffer_size()

    @property
    def taken(self) -> int:
        return self._written - self.waiting

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class StallWatch:
    """From the first byte to the end of the connection, for which `stop` is called."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: CountingTransport,
        stalled: Callable[[float], None],
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._stalled = stalled
        self._taken = transport.taken
        self._looks = 0
        self._look_later()

    def stop(self) -> None:
        self._timer.cancel()

    def _look_later(self) -> None:
        self._timer = self._loop.call_later(STALL_S / LOOKS, self._look)

    def _look(self) -> None:
        taken = self._transport.taken
        if not self._transport.waiting or taken != self._taken:
            self._taken = taken
            self._looks = 0
        else:
            self._looks += 1
        if self._looks < LOOKS:
            self._look_later()
        else:
            self._stalled(STALL_S)
            self._transport.abort()
