"""Framing: splits received bytes into frames, each after its length in four bytes.

Sans-IO: the session receives into `get_buffer`, and gets the frames of `received`.
"""

from __future__ import annotations

from struct import Struct

PREFIX_BYTES = 4
READ_BUFFER_BYTES = 128 * 1024

_LENGTH = Struct(">i")


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
        "draining",
        "illegal",
        "illegal_prefix",
        "max_frame_bytes",
        "min_frame_bytes",
        "muted",
        "needs_bytes",
    )

    def __init__(self, shared: ReadBuffer, max_frame_bytes: int, min_frame_bytes: int) -> None:
        self._shared = shared
        self.min_frame_bytes = min_frame_bytes
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
        #: Number of reasons to begin with no further frame: unread responses, throttling, data that
        #: is not in memory.
        self.muted = 0
        #: What has begun is completed, nothing else begins.
        self.draining = False

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

    def forget_partial(self) -> None:
        """The connection is lost."""
        self._frame, self._partial = None, b""

    @property
    def large_bytes(self) -> int:
        """Memory of large frames that have not begun."""
        return self.held_bytes

    def received(self, count: int, start: int = 0) -> list[memoryview]:
        """The frames that are complete now, without their lengths; valid until the next read.

        `start`: of the first read, after bytes that belong to no frame.
        """
        frame = self._frame
        if frame is not None:
            self._filled += count
            if self._filled < len(frame):
                return []
            self._frame = None
            return [frame]
        memory = self._shared.memory
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
