"""Clients of the admin side that use TLS where it has none, or none where it has TLS."""

from __future__ import annotations

from interfaces.connections.other_protocols import TLS_ALERT, Rejection, http_response, is_http

TLS_TO_PLAIN = Rejection(
    "tls_handshake",
    "the client began a TLS handshake, and this listener has no TLS",
    "use http:// in the client, or set admin.ssl.keystore.location",
    TLS_ALERT,
)
_HINT = "use https:// in the client"
_UPGRADE = http_response(
    "426 Upgrade Required", f"This port serves HTTPS: {_HINT}", "Upgrade: TLS/1.2"
)


#: Commands ask with HEAD whether a port has TLS: without a reason, it is not logged.
_PROBED = Rejection("", "", "", _UPGRADE.partition(b"\r\n\r\n")[0] + b"\r\n\r\n")


def rejection_of_plain(first_bytes: bytes) -> Rejection:
    if first_bytes == b"HEAD":
        return _PROBED
    response = _UPGRADE if is_http(first_bytes) else b""
    detail = "the client does not use TLS, and this listener does"
    return Rejection("not_tls", detail, _HINT, response)
