"""SealedLog: old records that a broker can read without leading their partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from application.ports.log_store import Buffer
from application.ports.pending import Pending
from domain.partitions.transactions import AbortedTransaction


class SealedRecords(NamedTuple):
    """Of a committed state of the log that is not older than the request."""

    log_start_offset: int
    #: Both as of a snapshot of the leader: those of the leader are not below.
    high_watermark: int
    last_stable_offset: int
    #: Below the last stable offset.
    records: Buffer
    #: All that have records or their marker among `records`, by their markers.
    aborted: Sequence[AbortedTransaction]


class SealedLog(Protocol):
    def is_sealed(self, partition_id: int, first_offset: int, end_offset: int) -> bool:
        """Whether other brokers can read all records between the two offsets, and this one has
        the first ones not in memory. Of a partition that this broker leads.
        """
        ...

    def fetch(
        self, partition_id: int, offset: int, max_bytes: int, whole_first: bool
    ) -> Pending[SealedRecords | None]:
        """Whole batches from an offset on, as `LogStore.read` returns them.

        None: the offset is not among sealed records, or they cannot be read; the leader knows.
        If its caller abandons it before it has begun, nothing is read.
        """
        ...
