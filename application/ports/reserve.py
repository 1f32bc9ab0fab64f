from __future__ import annotations

from typing import Protocol


class Reserve(Protocol):
    """Room that a store holds back for deletions, and releases when the disk is full."""

    @property
    def is_released(self) -> bool: ...

    @property
    def is_read_only(self) -> bool:
        """No records are ever accepted; it counts as released."""
        ...

    def admits(self, size_bytes: int) -> bool:
        """Whether records may be appended; while it is released, only above as much free room.

        The reserve is made again when the disk has room for it.
        """
        ...
