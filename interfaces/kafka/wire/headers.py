"""Request and response headers.

    request   v1: key, version, correlation id, client id      v2: the same and tagged fields
    response  v0: correlation id                               v1: the same and tagged fields

Flexible versions of an API use v2 and v1. `client_id` is an int16 string in both. The response to
ApiVersions always has header v0: the client does not know yet which versions the broker has.
"""

from __future__ import annotations

from struct import Struct

from interfaces.kafka.wire.primitives import MalformedRequest, skip_tagged_fields

API_VERSIONS = 18
#: Key, version, correlation id and client id: the shortest request.
MIN_REQUEST_BYTES = 10

#: After key, version and correlation id: the first bytes that repeated requests share.
PREFIX_START = 8
CLIENT_ID_START = 10

_FIXED = Struct(">hhih")
_RESPONSE_V0 = Struct(">ii")
_RESPONSE_V1 = Struct(">iib")

#: Key, version, correlation id and the length of the client id (negative: null).
unpack_fixed_header = _FIXED.unpack_from


def skip_header_tags(frame: memoryview, position: int) -> int:
    """Skips the tagged fields of a request header: none is defined. Returns the next position."""
    try:
        return skip_tagged_fields(frame, position + 1, frame[position])
    except IndexError:
        raise MalformedRequest("The request ends within its header") from None


def response_start(correlation_id: int, body_bytes: int, tagged: bool) -> bytes:
    """Length prefix and response header."""
    if tagged:
        return _RESPONSE_V1.pack(body_bytes + 5, correlation_id, 0)
    return _RESPONSE_V0.pack(body_bytes + 4, correlation_id)
