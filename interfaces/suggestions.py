"""The name that a user probably meant."""

from __future__ import annotations

from collections.abc import Iterable

#: Of difflib: 1 is the same name.
_SIMILAR = 0.7


def did_you_mean(name: str, known: Iterable[str], similar: float = _SIMILAR) -> str:
    """` (did you mean NAME?)`, or an empty text; upper and lower case are the same."""
    from difflib import get_close_matches

    names = {one.lower(): one for one in known}
    for meant in get_close_matches(name.lower(), names, 1, similar):
        return f" (did you mean {names[meant]}?)"
    return ""
