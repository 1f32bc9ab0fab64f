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
from struct import Struct

from interfaces.kafka.requests.apis import PRODUCE
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.headers import MIN_REQUEST_BYTES
from interfaces.kafka.wire.structs import Pieces

PREFIX_BYTES = 4
READ_BUFFER_BYTES = 128 * 1024

_LENGTH = Struct(">i")

#: More than this is not read ahead of a request that is still being answered.
PARKED_BYTES = 128 * 1024

#: From the head of the line, all responses that are ready: how many bytes, and the bytes.
Take = Callable[[deque[Call]], tuple[int, Pieces]]


class ReadBuffer:
    """The buffer that all connections of a loop share: it holds nothing between two reads."""

    __slots__ = ("memory", "views")

    def __init__(self, size_bytes: int = READ_BUFFER_BYTES) -> None:
        self.memory = memoryview(bytearray(size_bytes))
        #: Where to receive when so many bytes of a length prefix have come already.
        self.views = tuple(self.memory[left:] for left in range(PREFIX_BYTES))


class Framing:
    """Frames from any chunks of bytes, with as few copies as can be.

    Frames that are whole in the shared buffer are handed out as views: they die when the next bytes
    arrive. A frame of which only a part has come gets a bytearray of its own, and the rest is
    received right into that. A frame larger than the shared buffer has to be admitted first,
    because its memory counts.
    """

    __slots__ = (
        "_filled",
        "_frame",
        "_max_frame_bytes",
        "_partial",
        "_shared",
        "admitted",
        "illegal",
        "illegal_prefix",
        "needs_bytes",
    )

    def __init__(self, shared: ReadBuffer, max_frame_bytes: int) -> None:
        self._shared = shared
        self._max_frame_bytes = max_frame_bytes
        self._partial = b""
        self._frame: memoryview | None = None
        self._filled = 0
        #: The size of a large frame that waits for `admit`; until then nothing may be received.
        self.needs_bytes = 0
        #: How many large frames were admitted.
        self.admitted = 0
        #: Why nothing that came after the last frames can be understood.
        self.illegal: str | None = None
        #: The length that was not legal, as it came: it may be the beginning of another protocol.
        self.illegal_prefix = b""

    @property
    def mid_frame(self) -> bool:
        """The client owes the rest of a request; not where the broker makes it wait for memory."""
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
        """The frames that are whole now, without their lengths; views until the next bytes."""
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
            if not MIN_REQUEST_BYTES <= size <= self._max_frame_bytes:
                self.illegal_prefix = bytes(memory[start - PREFIX_BYTES : start])
                self.illegal = (
                    f"a request of {size} bytes is not within {MIN_REQUEST_BYTES} and "
                    f"{self._max_frame_bytes} (socket.request.max.bytes)"
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
        """There is memory for the large frame now."""
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
    """Whether the frame's memory was admitted and has to be given back."""
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
        #: Calls, in the order of their requests, whose responses have not left.
        self.replies: deque[Call] = deque()
        self.to_send: Callable[[], tuple[int, Pieces]] = partial(take, self.replies)
        #: Requests that run and are not answered yet; more than one only when all are Produce.
        self.running = 0
        self._only_produce = True
        self.parked: deque[memoryview] = deque()
        self.parked_bytes = 0
        #: For how many reasons nothing more is begun: the client leaves responses unread, or is
        #: throttled, or a request was put back.
        self.muted = 0
        #: What runs is answered, and nothing more begins.
        self.draining = False

    def may_run(self, frame: memoryview) -> bool:
        """Whether the request that was just received runs now; otherwise it is parked."""
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
        """The request that began last has had no effect: it begins again before those behind it."""
        self.replies.pop()
        self.running -= 1
        parked = frame if is_large(frame) else memoryview(bytearray(frame))
        self.parked.appendleft(parked)
        self.parked_bytes += len(parked)

    def next_parked(self) -> memoryview | None:
        """The first parked request, where it may run now."""
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
        """Requests that came as a whole and are not answered."""
        return self.running + len(self.parked)

    @property
    def large_bytes(self) -> int:
        """Of large requests that have not begun: not here as a whole, or behind another one."""
        return self.held_bytes + sum(len(frame) for frame in self.parked if is_large(frame))
