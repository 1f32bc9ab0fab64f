"""One SASL conversation with a listener: what is sent, and what comes back, byte by byte.

Nonces, salts and signatures are random: their places in a response have names instead. What is
sent is the same for each broker but for the proofs of SCRAM, which scramp makes.
"""

from __future__ import annotations

import socket
import struct

from interfaces.kafka.wire.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from interfaces.kafka.wire.messages.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from interfaces.kafka.wire.schema import Request
from tests.e2e.broker_process import Address
from tests.fakes.client import frame

PATIENCE_S = 10.0
#: In place of a response, or of its body.
CLOSED, ANSWERED = "closed", "a response"
#: Of every client.
CLIENT_NONCE = "rOprNGfwEbeRWgbNEkqO"

#: What was sent, and the response in hexadecimal digits.
Steps = list[tuple[str, str]]


class Conversation:
    def __init__(self, address: Address) -> None:
        self._socket = socket.create_connection((address.host, address.port), PATIENCE_S)
        self._correlation_id = 0
        self.steps: Steps = []

    def close(self) -> None:
        self._socket.close()

    # ---- what clients send

    def handshake(self, mechanism: str, version: int = 1) -> None:
        got = self._exchanged(SaslHandshakeRequest(mechanism=mechanism), version)
        response, end = SaslHandshakeResponse.decode(version, got, 4) if got else (None, 0)
        assert end == len(got)
        if response is not None:
            response.mechanisms.sort()  # Kafka's are in no order
            got = got[:4] + b"".join(response.encode(version))
        self.steps.append((f"handshake {version} {mechanism}", got.hex() if got else CLOSED))

    def token(self, what: str, data: bytes, version: int = 2) -> bytes:
        """Returns the token of the broker; empty after a failure."""
        got = self._exchanged(SaslAuthenticateRequest(auth_bytes=data), version)
        if not got:
            self.steps.append((what, CLOSED))
            return b""
        head = got[:5] if version >= 2 else got[:4]
        response, end = SaslAuthenticateResponse.decode(version, got, len(head))
        assert end == len(got)
        assert head + b"".join(response.encode(version)) == got
        answer = bytes(response.auth_bytes)
        response.auth_bytes = _masked(answer)
        self.steps.append((what, (head + b"".join(response.encode(version))).hex()))
        return answer

    def raw_token(self, what: str, data: bytes) -> bytes:
        """Without a header, as after SaslHandshake 0."""
        self._socket.sendall(struct.pack(">i", len(data)) + data)
        got = self._received()
        self.steps.append((what, CLOSED if got is None else _masked(got).hex()))
        return got or b""

    def request(self, what: str, request: Request, version: int, whole: bool = True) -> None:
        """Not `whole`: brokers have other responses, for reasons that are tested elsewhere."""
        got = self._exchanged(request, version)
        self.steps.append((what, (got.hex() if whole else ANSWERED) if got else CLOSED))

    def raw(self, what: str, data: bytes) -> None:
        self._socket.sendall(data)
        got = self._received()
        self.steps.append((what, CLOSED if got is None else got.hex()))

    def _exchanged(self, request: Request, version: int) -> bytes:
        self._correlation_id += 1
        self._socket.sendall(frame(request, version, self._correlation_id))
        return self._received() or b""

    def _received(self) -> bytes | None:
        """A frame without its length; None: the connection is closed."""
        try:
            (size,) = struct.unpack(">i", self._exactly(4))
            return self._exactly(size)
        except (ConnectionError, EOFError):
            return None

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            piece = self._socket.recv(size - len(found))
            if not piece:
                raise EOFError
            found += piece
        return found


def _masked(token: bytes) -> bytes:
    """SCRAM's fields that are random."""
    fields = token.split(b",")
    if fields[0].startswith(b"r=") and len(fields) == 3:
        client_part = fields[0][: len(b"r=") + len(CLIENT_NONCE)]
        return b",".join((client_part + b"(nonce)", b"s=(salt)", fields[2]))
    return b"v=(signature)" if token.startswith(b"v=") else token
