"""Writers: what found records become, piece by piece."""

from __future__ import annotations

from typing import Protocol

from application.records.rendering import LINES
from application.records.scan import Found


class Writer(Protocol):
    @property
    def waiting_bytes(self) -> int:
        """Of what `drain` would give."""
        ...

    def take(self, found: Found) -> int:
        """How many bytes the record counts for."""
        ...

    def drain(self) -> bytes:
        """What is ready, which may be nothing; each byte is given once."""
        ...

    def finish(self) -> bytes:
        """The rest, when no record follows."""
        ...


class LineWriter:
    """A line for each record, and first of all the head, unless that has been `begun`."""

    def __init__(self, form: str, data_format: str, begun: bool = False) -> None:
        head, self._line = LINES[form]
        self._data_format = data_format
        self._lines = [] if begun or not head else [head]
        self.waiting_bytes = 0

    def take(self, found: Found) -> int:
        line = self._line(found, self._data_format)
        self._lines.append(line)
        self.waiting_bytes += len(line)
        return len(line)

    def drain(self) -> bytes:
        data = b"".join(self._lines)
        self._lines.clear()
        self.waiting_bytes = 0
        return data

    finish = drain
