from __future__ import annotations

from typing import NamedTuple, Protocol

#: There is no volume, or its size is unknown.
UNKNOWN_BYTES = -1


class Space(NamedTuple):
    total_bytes: int
    usable_bytes: int


UNKNOWN_SPACE = Space(UNKNOWN_BYTES, UNKNOWN_BYTES)


class Volume(Protocol):
    """The file system of the store."""

    @property
    def path(self) -> str:
        """For display."""
        ...

    def space(self) -> Space: ...
