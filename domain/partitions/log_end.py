"""LogEnd: offsets and sizes of a log. A partition has two: with staged batches, and durable."""

from __future__ import annotations

from domain.messages.batch import NO_TIMESTAMP
from domain.partitions.transactions import OpenTransaction


class LogEnd:
    __slots__ = (
        "appended_bytes",
        "first_unstable",
        "max_timestamp",
        "max_timestamp_offset",
        "next_offset",
        "size_bytes",
        "start_offset",
    )

    def __init__(
        self,
        next_offset: int = 0,
        max_timestamp: int = NO_TIMESTAMP,
        max_timestamp_offset: int = -1,
        appended_bytes: int = 0,
        start_offset: int = 0,
        size_bytes: int = 0,
        first_unstable: OpenTransaction | None = None,
    ) -> None:
        self.next_offset = next_offset
        self.max_timestamp = max_timestamp
        #: The last offset of the batch that has the largest timestamp.
        self.max_timestamp_offset = max_timestamp_offset
        #: Since the partition was loaded, for delayed fetches.
        self.appended_bytes = appended_bytes
        self.start_offset = start_offset
        #: Of the stored batches.
        self.size_bytes = size_bytes
        #: The oldest open transaction.
        self.first_unstable = first_unstable

    @property
    def stable_bytes(self) -> int:
        """As `appended_bytes`, below all open transactions."""
        oldest = self.first_unstable
        return self.appended_bytes if oldest is None else oldest.appended_bytes

    def copy(self) -> LogEnd:
        return LogEnd(
            self.next_offset,
            self.max_timestamp,
            self.max_timestamp_offset,
            self.appended_bytes,
            self.start_offset,
            self.size_bytes,
            self.first_unstable,
        )
