"""Timestamps: milliseconds or seconds since 1970, ISO 8601, or a time ago (-1h).

A time without a zone is UTC, as in kafka-consumer-groups --to-datetime.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from interfaces.iso_time import milliseconds_of
from interfaces.terminal import durations

#: 1973 to 2286 in seconds; as milliseconds they would be early in 1970.
_DIGITS_OF_SECONDS = (9, 10)


def milliseconds(text: str, now_ms: int) -> int:
    """Raises ValueError with a message for users."""
    if text.startswith("-"):
        with suppress(ValueError):
            return max(0, now_ms - int(durations.milliseconds(text[1:])))
    if text.isascii() and text.isdigit():
        return int(text) * 1000 if len(text) in _DIGITS_OF_SECONDS else int(text)
    try:
        return milliseconds_of(text)
    except ValueError:
        raise ValueError(
            f"invalid timestamp {text!r}: expected milliseconds since 1970, 2026-01-31T12:00:00Z "
            "or -1h"
        ) from None


def in_words(timestamp_ms: int) -> str:
    """2026-01-31T12:00:00.000Z, or the number if no calendar has it."""
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return str(timestamp_ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{timestamp_ms % 1000:03d}Z"
