"""TimeIndex: a file `.timeindex`, for searches. See index_entries.py for its entries."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from infrastructure.kafka_folder.index_entries import TIME_ENTRY


class TimeIndex:
    def __init__(self, path: str) -> None:
        """A missing file is an index without entries. Raises OSError."""
        self._data = b""
        with suppress(FileNotFoundError):
            self._data = Path(path).read_bytes()
        self._count = len(self._data) // TIME_ENTRY.size

    def _entry(self, number: int) -> tuple[int, int]:
        timestamp, offset = TIME_ENTRY.unpack_from(self._data, number * TIME_ENTRY.size)
        return timestamp, offset

    def ends_before(self, timestamp: int) -> bool:
        """False without entries: nothing is known of the batches."""
        return self._count > 0 and self._entry(self._count - 1)[0] < timestamp

    def offset_before(self, timestamp: int) -> int:
        """No batch that ends at or before it, counted from its segment, has this timestamp."""
        low, high = 0, self._count
        while low < high:
            middle = (low + high) // 2
            if self._entry(middle)[0] < timestamp:
                low = middle + 1
            else:
                high = middle
        return self._entry(low - 1)[1] if low else 0
