"""Clients of another protocol than a Kafka listener has."""

from __future__ import annotations

from collections.abc import Sequence

from interfaces.connections.other_protocols import (
    TLS_ALERT,
    Rejection,
    http_response,
    is_http,
    is_tls,
)


def rejection_of(first_bytes: bytes, admin_urls: Sequence[str]) -> Rejection | None:
    """None if the bytes belong to no known protocol."""
    if is_http(first_bytes):
        return _http(first_bytes, admin_urls)
    if is_tls(first_bytes):
        return Rejection(
            "tls_handshake",
            "the client began a TLS handshake, and this listener is PLAINTEXT",
            "set security.protocol=PLAINTEXT in the client",
            TLS_ALERT,
        )
    return None


def rejection_of_plain(first_bytes: bytes, admin_urls: Sequence[str]) -> Rejection:
    """The client sent something else than TLS to a listener with TLS."""
    if is_http(first_bytes):
        return _http(first_bytes, admin_urls)
    return Rejection(
        "not_tls",
        "the client does not use TLS, and this listener does",
        "set security.protocol=SSL in the client, or SASL_SSL if the listener has SASL",
    )


def _http(first_bytes: bytes, admin_urls: Sequence[str]) -> Rejection:
    hint = (
        f"HTTP is served at {', '.join(admin_urls)}"
        if admin_urls
        else "HTTP is off in this broker (admin.listeners)"
    )
    text = f"This port serves the Kafka protocol, not HTTP. {hint}"
    if first_bytes == b"HEAD":
        # Commands ask so where HTTP is served: without a reason, it is not logged.
        head, end, _ = http_response(f"400 {text}", text).partition(b"\r\n\r\n")
        return Rejection("", "", "", head + end)
    response = http_response("400 Bad Request", text)
    detail = "the client sent an HTTP request to a Kafka listener"
    return Rejection("http_request", detail, hint, response)
