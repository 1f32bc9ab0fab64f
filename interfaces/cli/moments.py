"""Moments: milliseconds or seconds since 1970, ISO 8601, or a while ago (-1h)."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from interfaces.terminal import durations

#: 1973 to 2286 in seconds; in milliseconds that is early in 1970, which nobody means.
_DIGITS_OF_SECONDS = (9, 10)


def milliseconds(text: str, now_ms: int) -> int:
    """A time without a zone is the machine's. Raises ValueError, in words."""
    if text.startswith("-"):
        with suppress(ValueError):
            return max(0, now_ms - int(durations.milliseconds(text[1:])))
    if text.isascii() and text.isdigit():
        return int(text) * 1000 if len(text) in _DIGITS_OF_SECONDS else int(text)
    try:
        found = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(
            f"{text!r} is no moment: milliseconds since 1970, 2026-01-31T12:00:00Z or -1h"
        ) from None
    return round(found.timestamp() * 1000)


def in_words(timestamp_ms: int) -> str:
    """2026-01-31T12:00:00.000Z; what no calendar has is left as it is."""
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return str(timestamp_ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{timestamp_ms % 1000:03d}Z"
