"""A clock that stands still until somebody moves it."""

from __future__ import annotations

from tests.fakes.batches import TIMESTAMP


class FakeClock:
    """It begins at the time that `record_batch` gives its records."""

    def __init__(self, wall_ms: int = TIMESTAMP) -> None:
        self._wall_ms = wall_ms
        self._monotonic_ms = 0
        #: What each look at `monotonic_ns` takes: what goes on in between, to whom measures that.
        self.look_ns = 0
        self._looked_ns = 0

    def now_ms(self) -> int:
        return self._wall_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def monotonic_ns(self) -> int:
        self._looked_ns += self.look_ns
        return self._monotonic_ms * 1_000_000 + self._looked_ns

    def advance(self, by_ms: int) -> None:
        self._wall_ms += by_ms
        self._monotonic_ms += by_ms

    def set_back(self, by_ms: int) -> None:
        """The wall clock is corrected; what waiting is measured with is not."""
        self._wall_ms -= by_ms
