"""Connection: bytes in, requests out; responses in, bytes out, in the order of the requests.

It knows no socket and no loop. Its user receives into `get_buffer`, and runs each request of
`received` that `may_run`, which opens a place in `replies`; responses that are ready at the head of
that line leave through `to_send`.

Requests run one at a time, as Kafka runs them, so that what a client has done is there when it asks
next. Only Produce requests that follow each other run ahead: they share a commit. What may not run
yet is parked, as a copy: all connections share the read buffer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from interfaces.kafka.requests.apis import PRODUCE
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.framing import Framing, ReadBuffer, is_large
from interfaces.kafka.wire.schema import Pieces

#: More than this is not read ahead of a request that is still being answered.
PARKED_BYTES = 128 * 1024

#: From the head of the line, all responses that are ready: how many bytes, and the bytes.
Take = Callable[[deque[Call]], tuple[int, Pieces]]


class Connection(Framing):
    __slots__ = (
        "_only_produce",
        "draining",
        "parked",
        "parked_bytes",
        "replies",
        "to_send",
        "unanswered",
        "unread",
    )

    def __init__(self, shared: ReadBuffer, max_frame_bytes: int, take: Take) -> None:
        super().__init__(shared, max_frame_bytes)
        #: Calls, in the order of their requests, whose responses have not left.
        self.replies: deque[Call] = deque()
        self.to_send: Callable[[], tuple[int, Pieces]] = partial(take, self.replies)
        #: Requests that run and are not answered yet; more than one only when all are Produce.
        self.unanswered = 0
        self._only_produce = True
        self.parked: deque[memoryview] = deque()
        self.parked_bytes = 0
        #: Responses that the client leaves unread: nothing more is begun for it.
        self.unread = False
        #: What runs is answered, and nothing more begins.
        self.draining = False

    def may_run(self, frame: memoryview) -> bool:
        """Whether the request that was just received runs now; otherwise it is parked."""
        is_produce = frame[1] == PRODUCE and frame[0] == 0
        unanswered = self.unanswered
        if self.parked or self.unread or (unanswered and not (is_produce and self._only_produce)):
            self.park(frame)
            return False
        self._only_produce = is_produce
        self.unanswered = unanswered + 1
        return True

    def park(self, frame: memoryview) -> None:
        parked = frame if is_large(frame) else memoryview(bytearray(frame))
        self.parked.append(parked)
        self.parked_bytes += len(parked)

    def next_parked(self) -> memoryview | None:
        """The first parked request, where it may run now."""
        if not self.parked or self.unread or self.draining:
            return None
        frame = self.parked[0]
        is_produce = frame[1] == PRODUCE and frame[0] == 0
        if self.unanswered and not (is_produce and self._only_produce):
            return None
        self._only_produce = is_produce
        self.unanswered += 1
        self.parked_bytes -= len(frame)
        return self.parked.popleft()

    def forget_parked(self) -> None:
        self.parked.clear()
        self.parked_bytes = 0

    @property
    def in_flight(self) -> int:
        """Requests that came as a whole and are not answered."""
        return self.unanswered + len(self.parked)

    @property
    def large_bytes(self) -> int:
        """Of large requests that have not begun: not here as a whole, or behind another one."""
        return self.held_bytes + sum(len(frame) for frame in self.parked if is_large(frame))
