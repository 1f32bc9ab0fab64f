from __future__ import annotations

from typing import Protocol


class EventLog(Protocol):
    """What happens in the broker, a line an event; the fields are for machines."""

    def info(self, event: str, **fields: object) -> None: ...

    def warning(self, event: str, **fields: object) -> None: ...

    def error(self, event: str, **fields: object) -> None:
        """Within an `except` block the traceback goes along."""
        ...
