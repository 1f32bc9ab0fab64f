"""Durations: 500ms, 30s, 1.5m, 2h, 7d."""

from __future__ import annotations

import re
from math import isfinite

_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"\s*(\d*\.?\d+)\s*(ms|s|m|min|h|d)?\s*", re.IGNORECASE)


def milliseconds(text: str, bare: str = "") -> float:
    """`bare` is the unit of a number without one; empty: a unit is required. Raises ValueError."""
    found = _DURATION.fullmatch(text)
    unit = (found[2] or bare).lower() if found else ""
    if not found or not unit or not isfinite(float(found[1])):
        raise ValueError(f"{text!r} is not a time like 500ms, 30s, 15m or 1h")
    return float(found[1]) * _UNITS_MS[unit]


def in_words(ms: int) -> str:
    """7d, 1h 30m: in the two largest units."""
    parts = []
    for unit in ("d", "h", "m", "s", "ms"):
        count, ms = divmod(ms, _UNITS_MS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0ms"
