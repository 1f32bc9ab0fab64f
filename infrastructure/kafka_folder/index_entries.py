"""IndexEntries: what the two indexes of a segment get as its batches are appended, as in Kafka.

    .index      last offset of a batch - that of the segment, position of the batch
    .timeindex  largest timestamp so far, last offset of its batch - that of the segment

An index has an entry for each batch that begins more than `index.interval.bytes` behind the one of
the entry before. The time index has one more at the end of a segment.
"""

from __future__ import annotations

from struct import Struct

INDEX_ENTRY = Struct(">ii")
TIME_ENTRY = Struct(">qi")
#: Kafka's default of log.index.interval.bytes.
INDEX_INTERVAL_BYTES = 4096
#: Kafka's default of log.index.size.max.bytes: an index that is full ends its segment.
MAX_INDEX_BYTES = 10 * 1024 * 1024


class IndexEntries:
    __slots__ = (
        *("_base_offset", "_bytes_since_entry", "_interval_bytes", "_its_offset"),
        *("_last_timestamp", "_max_timestamp", "offsets", "times"),
    )

    def __init__(self, base_offset: int, interval_bytes: int = INDEX_INTERVAL_BYTES) -> None:
        self._base_offset = base_offset
        self._interval_bytes = interval_bytes
        self._bytes_since_entry = 0
        self._max_timestamp, self._its_offset = -1, base_offset
        #: Of the newest entry of the time index.
        self._last_timestamp = -1
        #: Entries that are not written yet.
        self.offsets, self.times = bytearray(), bytearray()

    def resume(self, timestamp: int, offset: int) -> None:
        """After an entry of the time index that was written before."""
        self._last_timestamp = timestamp
        self._max_timestamp, self._its_offset = timestamp, offset

    def add(self, position: int, size_bytes: int, last_offset: int, max_timestamp: int) -> None:
        """A batch."""
        if max_timestamp > self._max_timestamp:
            self._max_timestamp, self._its_offset = max_timestamp, last_offset
        if self._bytes_since_entry > self._interval_bytes:
            self.offsets += INDEX_ENTRY.pack(last_offset - self._base_offset, position)
            self.end()
            self._bytes_since_entry = 0
        self._bytes_since_entry += size_bytes

    def end(self) -> None:
        """Adds the largest timestamp, unless the newest entry has it."""
        if self._max_timestamp > self._last_timestamp:
            self._last_timestamp = self._max_timestamp
            self.times += TIME_ENTRY.pack(self._max_timestamp, self._its_offset - self._base_offset)
