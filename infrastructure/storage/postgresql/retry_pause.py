"""RetryPause: how long something that failed is left alone."""

from __future__ import annotations

from time import monotonic

#: After upkeep that failed.
RETRY_S = 10.0
LONGEST_S = 600.0


class RetryPause:
    """After each further failure it is twice as long, up to LONGEST_S."""

    def __init__(self, first_s: float) -> None:
        self._first_s = self._next_s = first_s
        self._until_s = 0.0

    @property
    def is_over(self) -> bool:
        return monotonic() >= self._until_s

    def failed(self) -> None:
        self._until_s = monotonic() + self._next_s
        self._next_s = min(2 * self._next_s, LONGEST_S)

    def succeeded(self) -> None:
        self._next_s = self._first_s
