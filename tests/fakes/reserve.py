from __future__ import annotations


class FakeReserve:
    """A disk that a test fills and empties."""

    is_read_only = False

    def __init__(self) -> None:
        self.is_released = False
        self.room_bytes = 0

    def admits(self, size_bytes: int) -> bool:
        return not self.is_released or size_bytes < self.room_bytes
