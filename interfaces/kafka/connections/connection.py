"""Connection: bytes in, requests out; responses in, bytes out, in the order of the requests.

It knows no socket and no loop (sans-IO). The session receives into `get_buffer` and runs each
request of `received` that `may_run`, which appends a call to `replies`. Completed responses at the
head of `replies` leave through `to_send`.

The requests of a connection run one at a time, as in Kafka, so that a client reads its own writes.
Only consecutive Produce requests run together: they share a commit. A request that may not run yet
is parked as a copy, because all connections share the read buffer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from interfaces.connections.framing import Framing, ReadBuffer, is_large
from interfaces.kafka.requests.apis import PRODUCE
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.headers import MIN_REQUEST_BYTES
from interfaces.kafka.wire.structs import Pieces

#: The session stops reading when it has parked more than this.
PARKED_BYTES = 128 * 1024

#: Takes the completed responses from the head of `replies`: their size, and their bytes.
Take = Callable[[deque[Call]], tuple[int, Pieces]]


class Connection(Framing):
    __slots__ = (
        "_only_produce",
        "parked",
        "parked_bytes",
        "replies",
        "running",
        "to_send",
    )

    def __init__(self, shared: ReadBuffer, max_frame_bytes: int, take: Take) -> None:
        super().__init__(shared, max_frame_bytes, MIN_REQUEST_BYTES)
        #: Calls in the order of their requests, until their responses are sent.
        self.replies: deque[Call] = deque()
        self.to_send: Callable[[], tuple[int, Pieces]] = partial(take, self.replies)
        #: Requests that have begun and have no complete response; several only if all are Produce.
        self.running = 0
        self._only_produce = True
        self.parked: deque[memoryview] = deque()
        self.parked_bytes = 0

    def may_run(self, frame: memoryview) -> bool:
        """Returns True if the received request runs now; otherwise it is parked."""
        is_produce = frame[1] == PRODUCE and frame[0] == 0
        running = self.running
        if self.parked or self.muted or (running and not (is_produce and self._only_produce)):
            self.park(frame)
            return False
        self._only_produce = is_produce
        self.running = running + 1
        return True

    def park(self, frame: memoryview) -> None:
        parked = frame if is_large(frame) else memoryview(bytearray(frame))
        self.parked.append(parked)
        self.parked_bytes += len(parked)

    def requeue(self, frame: memoryview) -> None:
        """Parks the request that began last, which has had no effect, before all others."""
        self.replies.pop()
        self.running -= 1
        parked = frame if is_large(frame) else memoryview(bytearray(frame))
        self.parked.appendleft(parked)
        self.parked_bytes += len(parked)

    def next_parked(self) -> memoryview | None:
        """The first parked request, if it may run now."""
        if not self.parked or self.muted or self.draining:
            return None
        frame = self.parked[0]
        is_produce = frame[1] == PRODUCE and frame[0] == 0
        if self.running and not (is_produce and self._only_produce):
            return None
        self._only_produce = is_produce
        self.running += 1
        self.parked_bytes -= len(frame)
        return self.parked.popleft()

    def forget_parked(self) -> None:
        self.parked.clear()
        self.parked_bytes = 0

    @property
    def in_flight(self) -> int:
        """Received requests without a complete response."""
        return self.running + len(self.parked)

    @property
    def large_bytes(self) -> int:
        """Of requests: received in part, or parked."""
        return self.held_bytes + sum(len(frame) for frame in self.parked if is_large(frame))
