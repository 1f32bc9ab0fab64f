"""Connection: bytes in, frames out; answers in, bytes out, in the order of the requests.

It knows no socket and no loop: the session receives into `get_buffer`, says `received`, takes
frames until there is none, opens a reply for each, and sends what `ready` gives.
"""

from __future__ import annotations

from collections import deque

from interfaces.kafka.wire.framing import Framing, ReadBuffer
from interfaces.kafka.wire.headers import response_start

Buffer = bytes | memoryview


class Reply:
    """The place of one answer in the order of answers."""

    __slots__ = ("pieces",)

    def __init__(self) -> None:
        #: None until it is answered; empty when there is nothing to send.
        self.pieces: list[Buffer] | None = None

    def fill(self, correlation_id: int, body: list[Buffer], tagged_header: bool) -> int:
        """Completes the answer; returns its size on the wire."""
        body_bytes = len(body[0]) if len(body) == 1 else sum(map(len, body))
        start = response_start(correlation_id, body_bytes, tagged_header)
        self.pieces = [start, *body]
        return len(start) + body_bytes

    def fill_with_nothing(self) -> None:
        self.pieces = []


class Connection(Framing):
    __slots__ = ("replies",)

    def __init__(self, shared: ReadBuffer, max_frame_bytes: int) -> None:
        super().__init__(shared, max_frame_bytes)
        self.replies: deque[Reply] = deque()

    def ready(self) -> list[Buffer]:
        """What may be sent now: the answers at the head of the line."""
        replies = self.replies
        out: list[Buffer] = []
        while replies and (pieces := replies[0].pieces) is not None:
            replies.popleft()
            out += pieces
        return out
