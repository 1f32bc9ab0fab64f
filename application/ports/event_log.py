"""EventLog: what happens to the broker itself, in structured lines."""

from __future__ import annotations

from typing import Protocol


class EventLog(Protocol):
    """`event` is a key of application/ports/events.py, which declares its fields too. An exception
    in the field `error` is written with its traceback. Never raises, even if the disk of the log
    is full.
    """

    def info(self, event: str, **fields: object) -> None: ...

    def warning(self, event: str, **fields: object) -> None: ...

    def error(self, event: str, **fields: object) -> None: ...
