from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Wall clock, in milliseconds since 1970: what records are stamped with."""
        ...

    def monotonic_ms(self) -> int:
        """Never goes back: what waiting is measured with."""
        ...

    def monotonic_ns(self) -> int:
        """The same clock, for what takes less than a millisecond."""
        ...
