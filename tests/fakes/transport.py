"""A transport without a socket: records what the session wrote and did."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from tests.fakes.scheduler import FakeScheduler


class FakeTransport(asyncio.Transport):
    """Takes bytes at once until `stop_reading`; then they pile up, as in a socket."""

    def __init__(
        self,
        scheduler: FakeScheduler,
        peername: tuple[str, int] | None = ("192.0.2.7", 40001),
        sockname: tuple[str, int] = ("192.0.2.1", 9092),
    ) -> None:
        super().__init__({"peername": peername, "sockname": sockname})
        self._scheduler = scheduler
        self._protocol: asyncio.BufferedProtocol | None = None
        self._incoming = bytearray()
        self._client_reads = True
        self._unsent: list[bytes] = []
        self._high = 64 * 1024
        self._writing_paused = False
        self.taken: list[bytes] = []
        self.reading = True
        self.closing = False
        self.aborted = False
        self.lost = False
        self._notified_lost = False
        #: Number of writes.
        self.writes = 0

    def connect(self, protocol: asyncio.BufferedProtocol) -> None:
        self._protocol = protocol
        protocol.connection_made(self)

    @property
    def protocol(self) -> asyncio.BufferedProtocol:
        assert self._protocol is not None
        return self._protocol

    # ---- the client's side

    def receive(self, data: bytes | bytearray, at_most: int = 1 << 30) -> int:
        """Delivers bytes as a loop does while the session reads; returns how many it took."""
        taken = 0
        while taken < len(data) and self.reading and not self.closing:
            buffer = self.protocol.get_buffer(-1)
            count = min(len(buffer), len(data) - taken, at_most)
            assert count > 0, "a buffer without room"
            buffer[:count] = data[taken : taken + count]
            taken += count
            self.protocol.buffer_updated(count)
        return taken

    def send(self, data: bytes) -> None:
        """Bytes that the session does not read yet arrive when it reads again."""
        self._incoming += data
        self._deliver()

    def _deliver(self) -> None:
        while self._incoming and self.is_reading():
            data, self._incoming = self._incoming, bytearray()
            self._incoming = data[self.receive(data) :]

    def withheld(self) -> bytes:
        """Takes back what the session does not read yet."""
        data, self._incoming = bytes(self._incoming), bytearray()
        return data

    def stop_reading(self) -> None:
        self._client_reads = False

    def read_on(self) -> None:
        self._client_reads = True
        self.taken += self._unsent
        self._unsent.clear()
        if self._writing_paused and not self._notified_lost:
            self._writing_paused = False
            self.protocol.resume_writing()
        self._finish_close()

    def drop(self) -> None:
        """The client disconnects."""
        self.closing = True
        self._lose()

    # ---- asyncio's transport interface

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert high is not None
        self._high = high

    def get_write_buffer_size(self) -> int:
        return sum(map(len, self._unsent))

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes += 1
        self._take(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.writes += 1
        for data in list_of_data:
            self._take(bytes(data))

    def _take(self, data: bytes) -> None:
        assert not self._notified_lost, "a write to a lost connection"
        if self.lost:
            return
        if self._client_reads:
            self.taken.append(data)
            return
        self._unsent.append(data)
        if not self._writing_paused and self.get_write_buffer_size() > self._high:
            self._writing_paused = True
            self.protocol.pause_writing()

    def pause_reading(self) -> None:
        assert self.reading, "paused twice"
        self.reading = False

    def resume_reading(self) -> None:
        assert not self.reading, "resumed twice"
        self.reading = True
        if self._incoming:
            self._scheduler.soon(self._deliver)

    def is_reading(self) -> bool:
        return self.reading and not self.closing

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True
        self._finish_close()

    def _finish_close(self) -> None:
        if self.closing and not self._unsent:
            self._lose()

    def abort(self) -> None:
        self.closing = self.aborted = True
        self._unsent.clear()
        self._lose()

    def _lose(self) -> None:
        if not self.lost:
            self.lost = True
            self._scheduler.soon(self._notify_lost)

    def _notify_lost(self) -> None:
        self._notified_lost = True
        protocol, self._protocol = self.protocol, None  # as the transports of both loops do
        protocol.connection_lost(None)
