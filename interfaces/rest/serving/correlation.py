"""Correlation ids: the client's, if it fits in a log line, else a random one."""

from __future__ import annotations

import secrets

HEADER = "x-correlation-id"
MAX_CHARACTERS = 128


def correlation_id_of(header: str | None) -> str:
    if header and len(header) <= MAX_CHARACTERS and header.isascii() and header.isprintable():
        return header
    return secrets.token_hex(8)
