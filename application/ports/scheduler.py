from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None: ...


class Scheduler(Protocol):
    """The loop, as far as use cases may know it."""

    def soon(self, callback: Callable[[], None]) -> None:
        """Calls back once the present pass over all connections has been read."""
        ...

    def after_ms(self, delay_ms: int, callback: Callable[[], None]) -> Timer: ...
