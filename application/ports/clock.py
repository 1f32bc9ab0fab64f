from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Wall clock, in milliseconds since 1970: for timestamps of records."""
        ...

    def monotonic_ms(self) -> int:
        """Never goes back: for timeouts."""
        ...

    def monotonic_ns(self) -> int:
        """The same clock, for less than a millisecond."""
        ...
