"""A clock that stands still until somebody moves it."""

from __future__ import annotations

from tests.fakes.batches import TIMESTAMP


class FakeClock:
    """It begins at the time that `record_batch` gives its records."""

    def __init__(self, wall_ms: int = TIMESTAMP) -> None:
        self._wall_ms = wall_ms
        self._monotonic_ms = 0

    def now_ms(self) -> int:
        return self._wall_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def advance(self, by_ms: int) -> None:
        self._wall_ms += by_ms
        self._monotonic_ms += by_ms

    def set_back(self, by_ms: int) -> None:
        """The wall clock is corrected; what waiting is measured with is not."""
        self._wall_ms -= by_ms
