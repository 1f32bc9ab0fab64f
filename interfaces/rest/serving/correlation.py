"""Correlation ids: taken over from who asks, when they are fit for a log line, or made."""

from __future__ import annotations

import secrets

HEADER = "x-correlation-id"
MOST_CHARACTERS = 128


def correlation_id_of(given: str | None) -> str:
    """Raises nothing: one that is of no use is replaced."""
    if given and len(given) <= MOST_CHARACTERS and given.isascii() and given.isprintable():
        return given
    return secrets.token_hex(8)
