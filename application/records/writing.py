"""LineWriter: renders found records, and buffers the lines."""

from __future__ import annotations

from application.records.rendering import LINES
from application.records.scan import FoundRecord


class LineWriter:
    """One line per record, after the header, unless the output has `begun`."""

    def __init__(self, form: str, data_format: str, begun: bool = False) -> None:
        head, self._line = LINES[form]
        self._data_format = data_format
        self._lines = [] if begun or not head else [head]
        #: Bytes that `drain` would return.
        self.waiting_bytes = 0

    def take(self, found: FoundRecord) -> int:
        """Returns the bytes of the line."""
        line = self._line(found, self._data_format)
        self._lines.append(line)
        self.waiting_bytes += len(line)
        return len(line)

    def drain(self) -> bytes:
        """Returns and removes the buffered lines."""
        data = b"".join(self._lines)
        self._lines.clear()
        self.waiting_bytes = 0
        return data

    def finish(self) -> bytes:
        """Returns the rest of the output."""
        return self.drain()
