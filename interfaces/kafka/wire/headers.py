"""Request and response headers: what stands before the body, for every API.

    request   v1: key, version, correlation id, client id      v2: the same and tagged fields
    response  v0: correlation id                               v1: the same and tagged fields

The flexible versions of an API use v2 and v1. `client_id` stays a plain int16 string in both, and
ApiVersions answers with v0 always, so that a client that knows less can read the answer.
"""

from __future__ import annotations

from struct import Struct

from interfaces.kafka.wire.primitives import MalformedRequest, skip_tagged_fields

API_VERSIONS = 18
#: Key, version, correlation id and client id: no request that is served is shorter.
MIN_REQUEST_BYTES = 10

#: Behind key, version and correlation id: from here on, requests of one kind may be the same.
PREFIX_START = 8
CLIENT_ID_START = 10

_FIXED = Struct(">hhih")
_RESPONSE_V0 = Struct(">ii")
_RESPONSE_V1 = Struct(">iib")

#: Key, version, correlation id and the length of the client id (negative: null).
unpack_fixed_header = _FIXED.unpack_from


def skip_header_tags(frame: memoryview, position: int) -> int:
    """No tagged field of a request header means anything here; the position after them."""
    try:
        return skip_tagged_fields(frame, position + 1, frame[position])
    except IndexError:
        raise MalformedRequest("The request ends within its header") from None


def response_start(correlation_id: int, body_bytes: int, tagged: bool) -> bytes:
    """Length prefix and response header."""
    if tagged:
        return _RESPONSE_V1.pack(body_bytes + 5, correlation_id, 0)
    return _RESPONSE_V0.pack(body_bytes + 4, correlation_id)
