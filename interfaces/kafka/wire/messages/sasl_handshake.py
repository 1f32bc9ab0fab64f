"""SaslHandshake: never flexible.

After version 1 the tokens are in SaslAuthenticate requests, after version 0 without a header.
"""

from __future__ import annotations

from interfaces.kafka.wire.fields import array, int16, string
from interfaces.kafka.wire.schema import Request, Response


class SaslHandshakeRequest(Request, key=17, versions="0-1"):
    mechanism: str = string()


class SaslHandshakeResponse(Response, key=17, versions="0-1"):
    error_code: int = int16()
    mechanisms: list[str] = array(string)
