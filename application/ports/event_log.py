"""EventLog: what happens to the broker itself, in structured lines."""

from __future__ import annotations

from typing import Protocol


class EventLog(Protocol):
    """`event` is a constant phrase, all that varies is a field; an exception in a field named
    `failure` is written with its traceback. Never raises: a full disk under the log stops nobody.
    """

    def info(self, event: str, **fields: object) -> None: ...

    def warning(self, event: str, **fields: object) -> None: ...

    def error(self, event: str, **fields: object) -> None: ...
