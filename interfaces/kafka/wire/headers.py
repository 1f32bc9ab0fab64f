"""Request and response headers: what stands before the body, for every API.

    request   v1: key, version, correlation id, client id      v2: the same and tagged fields
    response  v0: correlation id                               v1: the same and tagged fields

The flexible versions of an API use v2 and v1. `client_id` stays a plain int16 string in both, and
ApiVersions answers with v0 always, so that a client that knows less can read the answer.
"""

from __future__ import annotations

from struct import Struct

from interfaces.kafka.wire.primitives import MalformedRequest

API_VERSIONS = 18
#: Key, version and correlation id: no request is shorter.
MIN_REQUEST_BYTES = 8

_FIXED = Struct(">hhi")
_LENGTH = Struct(">h")
_RESPONSE_V0 = Struct(">ii")
_RESPONSE_V1 = Struct(">iib")

unpack_fixed_header = _FIXED.unpack_from


def skip_client_id(frame: memoryview) -> tuple[bytes | None, int]:
    """The raw client id, and the position after it."""
    if len(frame) < 10:
        raise MalformedRequest("The request ends within its header")
    (length,) = _LENGTH.unpack_from(frame, 8)
    if length < 0:
        return None, 10
    end = 10 + length
    if end > len(frame):
        raise MalformedRequest("The client id is longer than the request")
    return bytes(frame[10:end]), end


def skip_tagged_fields(frame: memoryview, position: int) -> int:
    """No tagged field of a request header means anything here; the position after them."""
    count, position = _read_uvarint(frame, position)
    if count > len(frame):
        raise MalformedRequest("More tagged fields than bytes")
    for _ in range(count):
        _, position = _read_uvarint(frame, position)
        size, position = _read_uvarint(frame, position)
        position += size
        if position > len(frame):
            raise MalformedRequest("A tagged field is longer than the request")
    return position


def _read_uvarint(frame: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 35, 7):
        if position >= len(frame):
            raise MalformedRequest("The request ends within its header")
        byte = frame[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise MalformedRequest("A number in the header does not end")


def response_start(correlation_id: int, body_bytes: int, tagged: bool) -> bytes:
    """Length prefix and response header."""
    if tagged:
        return _RESPONSE_V1.pack(body_bytes + 5, correlation_id, 0)
    return _RESPONSE_V0.pack(body_bytes + 4, correlation_id)
