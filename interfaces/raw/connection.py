"""RawConnection: the bytes of a raw stream, without I/O. Numbers are big-endian.

producer  01, then for each record its length in 4 bytes and the payload;
          the response is its position in 8 bytes
consumer  02, then the position to start from in 8 bytes;
          the response is records as a producer sends them, without end
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack

from interfaces.connections.framing import Framing, ReadBuffer
from interfaces.connections.other_protocols import FIRST_BYTES, is_http, is_tls

PRODUCER, CONSUMER = 1, 2
_POSITION_BYTES = 8


class RawConnection(Framing):
    __slots__ = ("_start", "role", "start")

    def __init__(self, shared: ReadBuffer, max_record_bytes: int) -> None:
        super().__init__(shared, max_record_bytes, min_frame_bytes=0)
        #: None: no byte has arrived.
        self.role: int | None = None
        self._start = b""
        #: Of a consumer, once it is complete.
        self.start: int | None = None

    def received(self, count: int, start: int = 0) -> list[memoryview]:
        """The payloads of a producer that are complete now; valid until the next read."""
        memory = self._shared.memory[:count]
        if self.role is None:
            self.role, start = memory[0], 1
            if self.role not in (PRODUCER, CONSUMER):
                self.illegal = _other_protocol(bytes(memory[:FIRST_BYTES]))
        if self.role == PRODUCER:
            payloads = super().received(count, start)
            if self.illegal is not None:
                size = int.from_bytes(self.illegal_prefix, "big")
                self.illegal = f"a record of {size} bytes is larger than {self.max_frame_bytes}"
            return payloads
        self._start += memory[start:]
        if len(self._start) == _POSITION_BYTES:
            self.start = int.from_bytes(self._start, "big")
        elif len(self._start) > _POSITION_BYTES and self.illegal is None:
            self.illegal = "a consumer sends nothing after its start"
        return []


def _other_protocol(first: bytes) -> str:
    known = "TLS" if is_tls(first) else "HTTP" if is_http(first) else ""
    known = known and f", and the client seems to use {known}"
    return f"the first byte is {first[0]}, not 1 (producer) or 2 (consumer){known}"


def position_bytes(positions: Sequence[int]) -> bytes:
    return pack(f">{len(positions)}Q", *positions)
