"""Appended: where a batch is in the log."""

from __future__ import annotations

from domain.messages.batch import NO_TIMESTAMP
from domain.partitions.producers import AppendedBatch


class Appended:
    """The offsets of an appended batch; for a retry, those of the first attempt."""

    __slots__ = (
        *("base_offset", "begins_segment", "duplicate", "indexed_timestamp", "last_offset"),
        "log_append_time",
    )

    def __init__(
        self,
        base_offset: int,
        last_offset: int,
        log_append_time: int,
        indexed_timestamp: int,
        duplicate: bool,
        begins_segment: bool = False,
    ) -> None:
        self.base_offset = base_offset
        self.last_offset = last_offset
        self.log_append_time = log_append_time
        self.indexed_timestamp = indexed_timestamp
        self.duplicate = duplicate
        self.begins_segment = begins_segment


def repeated(duplicate: AppendedBatch) -> Appended:
    return Appended(
        duplicate.base_offset, duplicate.last_offset, duplicate.timestamp, NO_TIMESTAMP, True
    )
