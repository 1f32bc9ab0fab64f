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
from struct import Struct

from interfaces.kafka.requests.apis import PRODUCE
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.headers import MIN_REQUEST_BYTES
from interfaces.kafka.wire.structs import Pieces

PREFIX_BYTES = 4
READ_BUFFER_BYTES = 128 * 1024

_LENGTH = Struct(">i")

#: The session stops reading when it has parked more than this.
PARKED_BYTES = 128 * 1024

#: Takes the completed responses from the head of `replies`: their size, and their bytes.
Take = Callable[[deque[Call]], tuple[int, Pieces]]


class ReadBuffer:
    """The read buffer that all connections of a loop share; empty between two reads."""

    __slots__ = ("memory", "views")

    def __init__(self, size_bytes: int = READ_BUFFER_BYTES) -> None:
        self.memory = memoryview(bytearray(size_bytes))
        #: The place to receive into, by the bytes of a length prefix that have arrived already.
        self.views = tuple(self.memory[left:] for left in range(PREFIX_BYTES))


class Framing:
    """Splits the received bytes into frames, with as few copies as possible.

    Frames that are complete in the shared buffer are views, valid until the next read. A partial
    frame gets a bytearray of its own, and the rest is received into it. A frame that is larger than
    the shared buffer must be admitted first: its memory counts (queued.max.request.bytes).
    """

    __slots__ = (
        "_filled",
        "_frame",
        "_partial",
        "_shared",
        "admitted",
        "illegal",
        "illegal_prefix",
        "max_frame_bytes",
        "min_frame_bytes",
        "needs_bytes",
    )

    def __init__(self, shared: ReadBuffer, max_frame_bytes: int) -> None:
        self._shared = shared
        self.min_frame_bytes = MIN_REQUEST_BYTES
        self.max_frame_bytes = max_frame_bytes
        self._partial = b""
        self._frame: memoryview | None = None
        self._filled = 0
        #: The size of a large frame that waits for `admit`; do not receive until then.
        self.needs_bytes = 0
        #: Number of large frames admitted.
        self.admitted = 0
        #: Why the bytes after the last frames cannot be parsed.
        self.illegal: str | None = None
        #: The four bytes of the illegal length: another protocol may begin with them.
        self.illegal_prefix = b""

    @property
    def mid_frame(self) -> bool:
        """A request is received in part, and the broker waits for the client to send the rest."""
        return (self._frame is not None or bool(self._partial)) and not self.needs_bytes

    @property
    def held_bytes(self) -> int:
        """The memory of a large frame that is being received."""
        frame = self._frame
        return len(frame) if frame is not None and is_large(frame) else 0

    def get_buffer(self, sizehint: int = -1) -> memoryview:
        if self._frame is not None:
            return self._frame[self._filled :]
        return self._shared.views[len(self._partial)]

    def received(self, count: int) -> list[memoryview]:
        """The frames that are complete now, without their lengths; valid until the next read."""
        frame = self._frame
        if frame is not None:
            self._filled += count
            if self._filled < len(frame):
                return []
            self._frame = None
            return [frame]
        memory = self._shared.memory
        start = 0
        end = count
        partial = self._partial
        if partial:
            memory[: len(partial)] = partial
            end += len(partial)
            self._partial = b""
        frames: list[memoryview] = []
        while end - start >= PREFIX_BYTES:
            (size,) = _LENGTH.unpack_from(memory, start)
            start += PREFIX_BYTES
            if not self.min_frame_bytes <= size <= self.max_frame_bytes:
                self.illegal_prefix = bytes(memory[start - PREFIX_BYTES : start])
                self.illegal = (
                    f"request size {size} is not between {self.min_frame_bytes} and "
                    f"{self.max_frame_bytes} (socket.request.max.bytes)"
                )
                return frames
            if start + size > end:
                self._begin_frame(size, memory[start:end])
                return frames
            frames.append(memory[start : start + size])
            start += size
        if start < end:
            self._partial = bytes(memory[start:end])
        return frames

    def _begin_frame(self, size: int, part: memoryview) -> None:
        if size > READ_BUFFER_BYTES:
            self.needs_bytes = size
            self._partial = bytes(part)
        else:
            self._own(size, part)

    def admit(self) -> None:
        """Allocates the large frame, whose memory has been granted."""
        size, self.needs_bytes = self.needs_bytes, 0
        self.admitted += 1
        partial, self._partial = self._partial, b""
        self._own(size, partial)

    def _own(self, size: int, part: bytes | memoryview) -> None:
        frame = memoryview(bytearray(size))
        frame[: len(part)] = part
        self._frame = frame
        self._filled = len(part)


def is_large(frame: memoryview) -> bool:
    """Returns True if the memory of the frame was admitted and must be released."""
    return len(frame) > READ_BUFFER_BYTES


class Connection(Framing):
    __slots__ = (
        "_only_produce",
        "draining",
        "muted",
        "parked",
        "parked_bytes",
        "replies",
        "running",
        "to_send",
    )

    def __init__(self, shared: ReadBuffer, max_frame_bytes: int, take: Take) -> None:
        super().__init__(shared, max_frame_bytes)
        #: Calls in the order of their requests, until their responses are sent.
        self.replies: deque[Call] = deque()
        self.to_send: Callable[[], tuple[int, Pieces]] = partial(take, self.replies)
        #: Requests that have begun and have no complete response; several only if all are Produce.
        self.running = 0
        self._only_produce = True
        self.parked: deque[memoryview] = deque()
        self.parked_bytes = 0
        #: Number of reasons to run no further request: unread responses, throttling, a requeued
        #: request.
        self.muted = 0
        #: The running requests complete, no other begins.
        self.draining = False

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
        """Memory of large requests that have not begun: received in part, or parked."""
        return self.held_bytes + sum(len(frame) for frame in self.parked if is_large(frame))
