"""The name that a user probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], similar: float = 0.6) -> str:
    """` (did you mean NAME?)`, or an empty text; upper and lower case are the same.

    `similar` is difflib's ratio: 1 for the same name.
    """
    from difflib import get_close_matches

    names = {one.lower(): one for one in known}
    for meant in get_close_matches(name.lower(), names, 1, similar):
        return f" (did you mean {names[meant]}?)"
    return ""
