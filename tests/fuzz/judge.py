"""The judge: reads what a connection is sent by rules of its own, and what comes back."""

from __future__ import annotations

import struct
from collections import deque

from interfaces.kafka.requests.apis import BY_KEY
from interfaces.kafka.wire.headers import API_VERSIONS, MIN_REQUEST_BYTES
from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.kafka.wire.schema import Message, decoder
from tests.golden.frames import message_of, request_body

PRODUCE = 0


class Asked:
    """A whole frame that was sent, as the judge sees it."""

    __slots__ = ("correlation_id", "frame", "key", "version")

    def __init__(self, frame: bytes) -> None:
        self.frame = frame
        self.key, self.version, self.correlation_id = struct.unpack_from(">hhi", frame)

    @property
    def message(self) -> type[Message] | None:
        """What answers it, if it is served."""
        api = BY_KEY.get(self.key)
        return message_of(api.name, "response") if api and api.serves(self.version) else None

    def wants_answer(self) -> bool:
        """All but Produce with acks=0; and those who cannot be read close the connection."""
        if self.key != PRODUCE or self.message is None:
            return True
        _, version, body = request_body(self.frame)
        try:
            request, _ = decoder(message_of("produce", "request"), version)(
                memoryview(bytearray(self.frame)), body
            )
        except MalformedRequest:
            return True
        return bool(request.acks != 0)


class Judge:
    """Of one connection: each whole frame has its answer, in its turn."""

    def __init__(self, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        #: What was sent last is no frame: nothing after it can be understood.
        self.illegal = False
        self._unparsed = b""
        self._asked: deque[Asked] = deque()

    @property
    def mid_frame(self) -> bool:
        return bool(self._unparsed)

    def sent(self, data: bytes) -> None:
        self._unparsed += data
        while len(self._unparsed) >= 4 and not self.illegal:
            (size,) = struct.unpack_from(">i", self._unparsed)
            if not MIN_REQUEST_BYTES <= size <= self._max_frame_bytes:
                self.illegal = True
            elif len(self._unparsed) < 4 + size:
                return
            else:
                self._asked.append(Asked(self._unparsed[4 : 4 + size]))
                self._unparsed = self._unparsed[4 + size :]

    def missing(self) -> list[Asked]:
        """What has no answer; once there is nothing of that, all of it is done with."""
        missing = [one for one in self._asked if one.wants_answer()]
        if not missing:
            self._asked.clear()
        return missing

    def answered(self, answer: bytes) -> None:
        (correlation_id,) = struct.unpack_from(">i", answer)
        while self._asked:
            asked = self._asked.popleft()
            if asked.wants_answer():
                assert asked.correlation_id == correlation_id, "an answer out of order"
                _check_answer(asked, answer)
                return
        raise AssertionError("an answer that nobody asked for")


def _check_answer(asked: Asked, answer: bytes) -> None:
    """It can be read to its end in the version that was asked for."""
    message, version = asked.message, asked.version
    if message is None:
        assert asked.key == API_VERSIONS, "what is not served was answered"
        message, version = message_of("api_versions", "response"), 0
    flexible = message.is_flexible(version) and asked.key != API_VERSIONS
    _, end = message.decode(version, answer, 5 if flexible else 4)
    assert end == len(answer), "bytes after the answer"
