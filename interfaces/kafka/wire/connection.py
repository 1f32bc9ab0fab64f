"""Connection: bytes in, frames out; answers in, bytes out, in the order of the requests.

It knows no socket and no loop: the session receives into `get_buffer`, takes the frames that
`received` gives, opens a reply for each, and sends those at the head of the line that are answered.
"""

from __future__ import annotations

from collections import deque

from interfaces.kafka.wire.framing import Framing, ReadBuffer

Piece = bytes | memoryview


class Reply:
    """The place of one answer in the order of answers."""

    __slots__ = ("pieces",)

    def __init__(self) -> None:
        #: None until it is answered; empty when there is nothing to send.
        self.pieces: list[Piece] | None = None


class Connection(Framing):
    __slots__ = ("replies",)

    def __init__(self, shared: ReadBuffer, max_frame_bytes: int) -> None:
        super().__init__(shared, max_frame_bytes)
        self.replies: deque[Reply] = deque()
