from __future__ import annotations

from typing import NamedTuple, Protocol

#: Where there is no volume, or it does not say.
UNKNOWN_BYTES = -1


class Space(NamedTuple):
    total_bytes: int
    usable_bytes: int


UNKNOWN_SPACE = Space(UNKNOWN_BYTES, UNKNOWN_BYTES)


class Volume(Protocol):
    """Where the store lies."""

    @property
    def path(self) -> str:
        """As people may be told it."""
        ...

    def space(self) -> Space: ...
