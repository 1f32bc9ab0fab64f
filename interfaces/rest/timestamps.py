"""Timestamps in requests: milliseconds since 1970, or ISO 8601."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from interfaces.iso_time import milliseconds_of

#: The end of the year 9999: a later one is a mistake.
MAX_TIMESTAMP = 253_402_300_799_999


def timestamp_of(value: object) -> int:
    """Raises ValueError."""
    try:
        milliseconds = _milliseconds(str(value)) if type(value) in (int, str) else -1
    except ValueError:
        milliseconds = -1
    if not 0 <= milliseconds <= MAX_TIMESTAMP:
        raise ValueError("expected milliseconds since 1970, or a time as 2026-11-22T05:00:00Z")
    return milliseconds


def _milliseconds(text: str) -> int:
    if text.isascii() and text.isdigit():
        return int(text)
    # In a URL a plus is a space.
    return milliseconds_of(text.replace(" ", "+", 1) if "T" in text else text)


Timestamp = Annotated[
    int,
    BeforeValidator(timestamp_of),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": MAX_TIMESTAMP},
                {"type": "string", "format": "date-time"},
            ]
        }
    ),
]
