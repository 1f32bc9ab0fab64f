"""A clock that a test moves."""

from __future__ import annotations

from tests.fakes.batches import TIMESTAMP


class FakeClock:
    """Starts at the timestamp of `record_batch`."""

    def __init__(self, wall_ms: int = TIMESTAMP) -> None:
        self._wall_ms = wall_ms
        self._monotonic_ms = 0
        #: Added at each reading of `monotonic_ns`: simulates the time of the work in between.
        self.look_ns = 0
        self._looked_ns = 0

    def now_ms(self) -> int:
        return self._wall_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def monotonic_ns(self) -> int:
        self._looked_ns += self.look_ns
        return self._monotonic_ms * 1_000_000 + self._looked_ns

    def jump(self, by_ms: int) -> None:
        """Only the wall clock."""
        self._wall_ms += by_ms

    def advance(self, by_ms: int) -> None:
        self._wall_ms += by_ms
        self._monotonic_ms += by_ms
