"""SaslHandshake: never flexible.

After version 1 the tokens come in SaslAuthenticate requests, after 0 without any header.
"""

from __future__ import annotations

from interfaces.kafka.wire.fields import array, int16, string
from interfaces.kafka.wire.schema import Request, Response


class SaslHandshakeRequest(Request, key=17, versions="0-1"):
    mechanism: str = string()


class SaslHandshakeResponse(Response, key=17, versions="0-1"):
    error_code: int = int16()
    mechanisms: list[str] = array(string)
