from __future__ import annotations


class FakeCopies:
    """A store whose standbys a test starts and stops."""

    def __init__(self, count: int) -> None:
        self.count = count

    def look(self) -> None:
        pass
