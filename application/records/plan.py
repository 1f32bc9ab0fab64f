"""ScanPlan: what is to be looked through, in which order, and when that is enough.

A plan is also how far a scan has come: its ranges are narrowed as it goes on. So the rest of one is
a plan again, for a worker process or for the next page.
"""

from __future__ import annotations

from application.records.filter import RecordFilter

#: Each may have a whole batch in memory.
MAX_PARTITIONS = 256


class OffsetRange:
    """Of one partition, what is left: `start` belongs to it, `end` does not."""

    __slots__ = ("end", "index", "log_end", "partition_id", "start")

    def __init__(self, index: int, partition_id: int, start: int, end: int, log_end: int) -> None:
        self.index = index
        self.partition_id = partition_id
        self.start = start
        self.end = end
        #: Where committed batches end; only there no batch lies across.
        self.log_end = log_end

    def narrow(self, start: int, end: int) -> None:
        self.start = max(self.start, start)
        self.end = max(min(self.end, end), self.start)

    @property
    def is_done(self) -> bool:
        return self.start >= self.end


class ScanPlan:
    __slots__ = ("filter", "form", "limit", "max_bytes", "newest_first", "ranges")

    def __init__(
        self,
        ranges: list[OffsetRange],
        wanted: RecordFilter,
        form: str = "json",
        newest_first: bool = False,
        limit: int | None = None,
        max_bytes: int | None = None,
    ) -> None:
        self.ranges = ranges
        self.filter = wanted
        #: What a found record becomes: json (a line each), csv, parquet.
        self.form = form
        self.newest_first = newest_first
        #: Records and bytes that are still wanted; None: all that there are.
        self.limit = limit
        self.max_bytes = max_bytes


class ScanEnd:
    """Why a scan stopped (limit, bytes, time, end), and how far it got."""

    __slots__ = ("found", "ranges", "reason", "scanned", "unreadable")

    def __init__(
        self, reason: str, found: int, scanned: int, unreadable: int, ranges: list[OffsetRange]
    ) -> None:
        self.reason = reason
        self.found = found
        #: Records that lay on the way, but for those that the time index led past.
        self.scanned = scanned
        #: Batches whose records are not what their header says.
        self.unreadable = unreadable
        self.ranges = ranges
