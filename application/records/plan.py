"""ScanPlan: what is to be looked through, in which order, and when that is enough.

A plan is also how far a scan has come: its ranges are narrowed as it goes on. So the rest of one is
a plan again, for a worker process or for the next page.
"""

from __future__ import annotations

from dataclasses import dataclass

from application.records.filter import RecordFilter

#: Each may have a whole batch in memory.
MAX_PARTITIONS = 256


@dataclass(slots=True)
class OffsetRange:
    """Of one partition, what is left: `start` belongs to it, `end` does not."""

    index: int
    partition_id: int
    start: int
    end: int
    #: Where committed batches end; only there no batch lies across.
    log_end: int

    def narrow(self, start: int, end: int) -> None:
        self.start = max(self.start, start)
        self.end = max(min(self.end, end), self.start)

    @property
    def is_done(self) -> bool:
        return self.start >= self.end


@dataclass(slots=True)
class ScanPlan:
    #: Empty until `BrowseService.plan` has found the partitions.
    ranges: list[OffsetRange]
    filter: RecordFilter
    #: What a found record becomes: json (a line each), csv, parquet.
    form: str = "json"
    newest_first: bool = False
    #: Records and bytes that are still to be found; None: all that there are.
    limit: int | None = None
    max_bytes: int | None = None
    #: How keys and values are shown.
    data_format: str = "auto"
    #: How long the scan may take; None: as long as its reader likes.
    budget_ms: int | None = None
    #: Whether what comes before the first record has been handed over.
    begun: bool = False


@dataclass(slots=True)
class ScanEnd:
    """Why a scan stopped (limit, bytes, time, end), and how far it got."""

    reason: str
    found: int
    #: Records that lay on the way, but for those that the time index led past.
    scanned: int
    #: Batches whose records are not what their header says.
    unreadable: int
    ranges: list[OffsetRange]
