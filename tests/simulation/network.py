"""Line: one connection. Bytes arrive in order, late, in pieces, or not at all.

It is the transport of a real Session on the broker's side, and calls a client on the other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Protocol, cast

from interfaces.connections.framing import READ_BUFFER_BYTES
from interfaces.kafka.connections.session import Session
from tests.simulation.model import Violation
from tests.simulation.timeline import Callback, ProcessLoop, Timeline


class Client(Protocol):
    """The client."""

    def received(self, data: bytes, commits: int) -> None: ...

    def closed(self) -> None: ...


class Line:
    def __init__(
        self,
        timeline: Timeline,
        random: Random,
        loop: ProcessLoop,
        client: Client,
        port: int,
        commits: Callable[[], int],
        paused: Callback,
    ) -> None:
        self._timeline = timeline
        self._random = random
        self._loop = loop
        self._client: Client | None = client
        self._names = {"peername": ("192.0.2.7", port), "sockname": ("192.0.2.1", 9092)}
        self._commits = commits
        self._paused = paused
        self._session: Session | None = None
        #: To the broker: due time, bytes, and a callback on arrival.
        self._to_broker: deque[tuple[int, bytes, Callback | None]] = deque()
        self._waiting = b""
        self._to_broker_due_ms = 0
        #: To the client: due time, bytes, and the number of commits when they were written.
        self._to_client: deque[tuple[int, bytes, int]] = deque()
        self._to_client_due_ms = 0
        self._unread_bytes = 0
        self._high = 1 << 30
        self._writing_paused = False
        self._reading = True
        self._closing = False
        self._lost = False
        #: The client reads nothing before this time.
        self._reads_again_ms = 0
        #: Nothing arrives at the client any more, unnoticed.
        self.swallows = False
        #: Bytes of the client still arrive.
        self._reaches_broker = True
        #: True if every request has to get a response in time.
        self.healthy = True

    def connect(self, session: Session) -> None:
        self._session = session
        session.connection_made(cast(asyncio.Transport, self))

    @property
    def session(self) -> Session | None:
        return self._session

    # ---- for the client

    def send(self, data: bytes, arriving: Callback | None = None) -> None:
        """Sends the bytes in one or two pieces, in order."""
        late_ms = self._random.choice((0, 1, 1, 2, 4))
        large = len(data) > READ_BUFFER_BYTES
        if large or self._random.random() < 0.15:
            middle = self._random.randrange(1, len(data))
            self._send(data[:middle], None, late_ms)
            data = data[middle:]
            late_ms += self._random.choice((10, 60)) if large else 1
        self._send(data, arriving, late_ms)

    def _send(self, data: bytes, arriving: Callback | None, late_ms: int) -> None:
        if not self._reaches_broker:
            return
        due_ms = max(self._to_broker_due_ms, self._timeline.now + late_ms)
        self._to_broker_due_ms = due_ms
        self._to_broker.append((due_ms, data, arriving))
        self._timeline.after(due_ms - self._timeline.now, self._arrive)

    def _arrive(self) -> None:
        if self._lost:
            return
        now = self._timeline.now
        while self._to_broker and self._to_broker[0][0] <= now:
            _, data, arriving = self._to_broker.popleft()
            self._waiting += data
            if arriving is not None:
                arriving()
        self._feed()

    def _feed(self) -> None:
        session = self._session
        assert session is not None
        while self._waiting and self._reading and not self._closing:
            buffer = cast(memoryview, session.get_buffer(-1))
            count = min(len(buffer), len(self._waiting))
            buffer[:count] = self._waiting[:count]
            self._waiting = self._waiting[count:]
            session.buffer_updated(count)

    def disconnect(self) -> None:
        """The client closes; earlier bytes may still arrive."""
        self._client = None
        if self._random.random() < 0.5:
            self._to_broker.clear()
        delay_ms = max(self._to_broker_due_ms - self._timeline.now, 0) + self._random.choice(
            (0, 1, 40)
        )
        self._timeline.after(delay_ms, self._lose)

    def stop_reading(self, for_ms: int) -> None:
        self.healthy = False
        self._reads_again_ms = self._timeline.now + for_ms
        self._timeline.after(for_ms, self._deliver)

    def check_closing(self) -> None:
        if not (self._closing or self._lost):
            raise Violation("a batch with acks=0 was lost, and its connection is open")

    # ---- failures

    def cut(self) -> None:
        """Both ends notice at different times; bytes in flight may be lost."""
        self.healthy = False
        if self._random.random() < 0.5:
            self._to_broker.clear()
            self._reaches_broker = False
        self._to_client.clear()
        self.swallows = True
        self._timeline.after(self._random.choice((0, 1, 30, 200)), self._lose)
        self._timeline.after(self._random.choice((0, 1, 30)), self._notify_client)

    def swallow(self) -> None:
        self.healthy = False
        self.swallows = True

    def process_died(self) -> None:
        self.healthy = False
        self._lost = True
        self._session = None
        if self._random.random() < 0.5:
            self._to_client.clear()
            self.swallows = True
        self._timeline.after(self._random.choice((0, 1, 20)), self._end_delivery)

    def _end_delivery(self) -> None:
        self._reads_again_ms = 0
        self._deliver(everything=True)
        self._notify_client()

    def _notify_client(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.closed()

    # ---- the transport of a session

    def get_extra_info(self, name: str) -> tuple[str, int] | None:
        return self._names.get(name)

    def set_write_buffer_limits(self, high: int) -> None:
        self._high = high

    def get_write_buffer_size(self) -> int:
        return self._unread_bytes

    def write(self, data: bytes) -> None:
        if self._lost or self.swallows:
            return
        due_ms = max(self._to_client_due_ms, self._timeline.now + self._random.choice((0, 1, 1, 3)))
        self._to_client_due_ms = due_ms
        self._to_client.append((due_ms, bytes(data), self._commits()))
        self._unread_bytes += len(data)
        self._timeline.after(due_ms - self._timeline.now, self._deliver)
        if self._unread_bytes > self._high and not self._writing_paused:
            assert self._session is not None
            self._writing_paused = True
            self._paused()
            self._session.pause_writing()

    def writelines(self, pieces: list[bytes | memoryview]) -> None:
        self.write(b"".join(pieces))

    def _deliver(self, everything: bool = False) -> None:
        now = self._timeline.now
        if now < self._reads_again_ms:
            return
        while self._to_client and (everything or self._to_client[0][0] <= now):
            _, data, commits = self._to_client.popleft()
            self._unread_bytes -= len(data)
            if self._client is not None:
                self._client.received(data, commits)
        if not self._to_client:
            if self._writing_paused and not self._lost:
                assert self._session is not None
                self._writing_paused = False
                self._session.resume_writing()
            if self._closing:
                self._lose()

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True
        self._loop.soon(self._read_on)

    def _read_on(self) -> None:
        if not self._lost:
            self._feed()

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True
        self.healthy = False
        if not self._to_client:
            self._loop.soon(self._lose)

    def abort(self) -> None:
        self._closing = True
        self.healthy = False
        self._to_client.clear()
        self._loop.soon(self._lose)

    def _lose(self) -> None:
        if not self._lost:
            self._lost = True
            self.healthy = False
            session, self._session = self._session, None
            assert session is not None
            session.connection_lost(None)
            self._timeline.after(self._random.choice((0, 1)), self._notify_client)
