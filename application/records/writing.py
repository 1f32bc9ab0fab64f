"""LineWriter: what found records become, piece by piece."""

from __future__ import annotations

from application.records.rendering import LINES
from application.records.scan import FoundRecord


class LineWriter:
    """A line for each record, and first of all the head, unless that has been `begun`."""

    def __init__(self, form: str, data_format: str, begun: bool = False) -> None:
        head, self._line = LINES[form]
        self._data_format = data_format
        self._lines = [] if begun or not head else [head]
        #: Of what `drain` would return.
        self.waiting_bytes = 0

    def take(self, found: FoundRecord) -> int:
        """How many bytes the record counts for."""
        line = self._line(found, self._data_format)
        self._lines.append(line)
        self.waiting_bytes += len(line)
        return len(line)

    def drain(self) -> bytes:
        """What is ready, which may be nothing; each byte is returned once."""
        data = b"".join(self._lines)
        self._lines.clear()
        self.waiting_bytes = 0
        return data

    def finish(self) -> bytes:
        """The rest, when no record follows."""
        return self.drain()
