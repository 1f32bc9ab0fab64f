"""Lingering: how a connection is closed whose client is still sending.

Were it closed at once, the system would answer what still comes with a reset, and a client that had
not read its answer by then might never see it. So our side ends first; what comes is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from interfaces.rest.serving.stalls import CountingTransport

#: Then it is closed, whatever its client does.
LINGER_S = 1.0


class LingeringTransport(CountingTransport):
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: asyncio.Transport,
        is_sending: Callable[[], bool],
    ) -> None:
        super().__init__(transport)
        self._loop = loop
        self._is_sending = is_sending
        self.is_lingering = False

    def is_closing(self) -> bool:
        return self.is_lingering or self._transport.is_closing()

    def close(self) -> None:
        if self.is_closing():
            return
        if not self._is_sending():
            self._transport.close()
            return
        self.is_lingering = True
        self._transport.write_eof()
        self._transport.resume_reading()
        self._loop.call_later(LINGER_S, self._transport.close)
