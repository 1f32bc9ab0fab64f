"""ScanPlan: ranges, filter, order and limits of a scan.

A scan narrows the ranges of its plan as it proceeds, so the plan is also its progress: the rest can
be passed to a worker process, or become the next page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from application.records.filter import RecordFilter

#: Each partition may have a whole batch in memory.
MAX_PARTITIONS = 256


@dataclass(slots=True)
class OffsetRange:
    """The remaining offsets of one partition: `start` is inclusive, `end` exclusive."""

    index: int
    partition_id: int
    start: int
    end: int
    #: The end of committed batches: `end` may lie within a batch.
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
    #: The output format: json (one line per record), csv or parquet.
    form: str = "json"
    newest_first: bool = False
    #: Records and bytes that are still missing; None: no limit.
    limit: int | None = None
    max_bytes: int | None = None
    #: The format of keys and values.
    data_format: str = "auto"
    #: The time limit of the scan.
    budget_ms: int | None = None
    #: Also the markers of transactions; JSON has the producer and the transaction of each record.
    transactions: bool = False
    #: The header of the output was written.
    begun: bool = False
    #: Workers ask every job for it.
    is_urgent: ClassVar[bool] = False


@dataclass(slots=True)
class ScanEnd:
    """Why a scan stopped (limit, bytes, time, end), and its progress."""

    reason: str
    found: int
    #: Offsets that were scanned, without those that the time index skipped.
    scanned: int
    #: Malformed batches.
    unreadable: int
    ranges: list[OffsetRange]
