"""Traffic: counters of a partition since it was loaded, or of several, for metrics."""

from __future__ import annotations


class Traffic:
    __slots__ = (
        "appends", "bytes_in", "bytes_out", "counted_from", "failed_appends", "failed_fetches",
        "fetches", "first_offset", "next_offset",
    )  # fmt: skip

    def __init__(self) -> None:
        #: Produced batches, and refused ones among them.
        self.appends = 0
        self.failed_appends = 0
        #: Of durable batches.
        self.bytes_in = 0
        #: The log end when the partition was loaded.
        self.first_offset = 0
        #: Records before it are not counted: another broker has led the partition.
        self.counted_from = 0
        #: The log end before the last recovery, which may have failed.
        self.next_offset = 0
        #: Fetch responses with this partition, and those with an error.
        self.fetches = 0
        self.failed_fetches = 0
        #: Of records in fetch responses.
        self.bytes_out = 0

    def add(self, other: Traffic, log_end: int) -> None:
        """What a partition has counted that is not loaded any more."""
        for name in Traffic.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.next_offset += max(log_end - other.next_offset, 0)

    def forget_append(self, refused: bool) -> None:
        """The batch is repeated and counted again."""
        self.appends -= 1
        self.failed_appends -= refused
