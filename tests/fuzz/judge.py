"""The judge: parses sent and received bytes by its own rules."""

from __future__ import annotations

import struct
from collections import deque

from interfaces.kafka.requests.apis import BY_KEY
from interfaces.kafka.wire.headers import API_VERSIONS, MIN_REQUEST_BYTES
from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.kafka.wire.schema import Message, decoder
from tests.golden.frames import message_of, request_body

PRODUCE = 0


class SentFrame:
    """A whole frame that was sent."""

    __slots__ = ("correlation_id", "frame", "key", "version")

    def __init__(self, frame: bytes) -> None:
        self.frame = frame
        self.key, self.version, self.correlation_id = struct.unpack_from(">hhi", frame)

    @property
    def message(self) -> type[Message] | None:
        """The response message, if the API is served."""
        api = BY_KEY.get(self.key)
        return message_of(api.name, "response") if api and api.serves(self.version) else None

    def needs_response(self) -> bool:
        """All but Produce with acks=0; unreadable requests close the connection."""
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
    """Of one connection: each whole frame has to get its response in order."""

    def __init__(self, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        #: The last bytes were no frame: later bytes cannot be parsed.
        self.illegal = False
        self._unparsed = b""
        self._sent: deque[SentFrame] = deque()

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
                self._sent.append(SentFrame(self._unparsed[4 : 4 + size]))
                self._unparsed = self._unparsed[4 + size :]

    def missing(self) -> list[SentFrame]:
        """Returns frames without a response; if there are none, all frames are done."""
        missing = [one for one in self._sent if one.needs_response()]
        if not missing:
            self._sent.clear()
        return missing

    def received(self, response: bytes) -> None:
        (correlation_id,) = struct.unpack_from(">i", response)
        while self._sent:
            sent = self._sent.popleft()
            if sent.needs_response():
                assert sent.correlation_id == correlation_id, "a response out of order"
                _check_response(sent, response)
                return
        raise AssertionError("an unexpected response")


def _check_response(sent: SentFrame, response: bytes) -> None:
    """Checks that it can be decoded in the version of the request."""
    message, version = sent.message, sent.version
    if message is None:
        assert sent.key == API_VERSIONS, "an API that is not served got a response"
        message, version = message_of("api_versions", "response"), 0
    flexible = message.is_flexible(version) and sent.key != API_VERSIONS
    _, end = message.decode(version, response, 5 if flexible else 4)
    assert end == len(response), "bytes after the response"
