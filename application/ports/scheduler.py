from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None: ...


class Scheduler(Protocol):
    """The event loop, as use cases see it."""

    def soon(self, callback: Callable[[], None]) -> None:
        """Calls back at the end of this pass, when all readable connections have been read."""
        ...

    def after_ms(self, delay_ms: int, callback: Callable[[], None]) -> Timer: ...
