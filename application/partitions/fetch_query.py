"""What a fetch asks for, and what it gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from application.ports.log_store import Buffer
from domain.errors import BrokerError
from domain.partitions.partition import Partition
from domain.partitions.transactions import AbortedTransaction


@dataclass(slots=True, eq=False)
class FetchItem:
    """One partition of a request. A fetch session stores its items between requests."""

    #: None if the client names topics by id.
    topic_name: str | None
    topic_id: bytes
    index: int
    offset: int
    max_bytes: int
    leader_epoch: int
    #: Cached while the catalogue has this revision.
    partition: Partition | None = None
    revision: int = -1

    @property
    def key(self) -> tuple[object, int]:
        return (self.topic_id if self.topic_name is None else self.topic_name, self.index)


@dataclass(slots=True, eq=False)
class FetchedPartition:
    """One partition of a response: records or an error."""

    item: FetchItem
    error: BrokerError | None = None
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    records: Buffer = b""
    #: Of READ_COMMITTED: those that have records or their marker among `records`.
    aborted: Sequence[AbortedTransaction] = ()


@dataclass(slots=True, eq=False)
class FetchQuery:
    items: list[FetchItem]
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    read_committed: bool
