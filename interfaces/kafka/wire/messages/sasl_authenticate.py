"""SaslAuthenticate. Version 1 has the lifetime of the session (KIP-368)."""

from __future__ import annotations

from interfaces.kafka.wire.fields import int16, int64, octets, string
from interfaces.kafka.wire.schema import Request, Response


class SaslAuthenticateRequest(Request, key=36, versions="0-2", flexible="2+"):
    auth_bytes: bytes = octets()


class SaslAuthenticateResponse(Response, key=36, versions="0-2", flexible="2+"):
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    auth_bytes: bytes = octets()
    session_lifetime_ms: int = int64("1+", ignorable=True)
