"""EventLog: structured log lines about the broker."""

from __future__ import annotations

from typing import Protocol


class EventLog(Protocol):
    """`event` is a constant phrase, all that varies is a field; an exception in a field named
    `failure` is written with its traceback. Never raises, also with a full disk.
    """

    def info(self, event: str, **fields: object) -> None: ...

    def warning(self, event: str, **fields: object) -> None: ...

    def error(self, event: str, **fields: object) -> None: ...
