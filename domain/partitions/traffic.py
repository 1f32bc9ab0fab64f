"""Traffic: what went in and out of a partition since it was loaded, for those who watch."""

from __future__ import annotations


class Traffic:
    __slots__ = (
        "appends", "bytes_in", "bytes_out", "failed_appends", "failed_fetches", "fetches",
        "next_offset",
    )  # fmt: skip

    def __init__(self) -> None:
        #: Batches that were to be appended; of them, those that were refused.
        self.appends = 0
        self.failed_appends = 0
        #: Of batches, once they are durable.
        self.bytes_in = 0
        #: As far as its log was known to go before it was read again, which may have failed.
        self.next_offset = 0
        #: How often it was in the answer to a fetch; of them, those with an error.
        self.fetches = 0
        self.failed_fetches = 0
        #: Of records, in answers to fetches.
        self.bytes_out = 0

    def forget_append(self, refused: bool) -> None:
        """The batch comes once more, and is counted then."""
        self.appends -= 1
        self.failed_appends -= refused
