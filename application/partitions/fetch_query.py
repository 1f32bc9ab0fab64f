"""What a fetch asks for, and what it gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from application.ports.log_store import Buffer
from application.ports.pending import Pending
from application.ports.sealed_log import SealedRecords
from domain.errors import BrokerError, UnknownTopicId, UnknownTopicOrPartition
from domain.messages.batch import next_offset
from domain.partitions.leader_epochs import NO_EPOCH, EpochEnd
from domain.partitions.partition import Partition
from domain.partitions.traffic import Traffic
from domain.partitions.transactions import AbortedTransaction

NO_REPLICA = -1
NOT_THERE = (UnknownTopicOrPartition, UnknownTopicId)


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
    #: Of the record before `offset`; below 0: the client does not say.
    last_fetched_epoch: int = NO_EPOCH
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
    #: The node that the client should fetch from instead.
    preferred_read_replica: int = NO_REPLICA
    #: The counters of a partition that another node leads.
    followed: Traffic | None = None
    #: The client has records that are not in this log: it goes back to this end, or further.
    diverging_epoch: EpochEnd | None = None

    @property
    def is_final(self) -> bool:
        """Waiting adds no records."""
        return (
            self.preferred_read_replica != NO_REPLICA
            or self.followed is not None
            or self.diverging_epoch is not None
        )


class FollowedRead:
    """What a follower reads for a fetch."""

    __slots__ = ("_asked", "found", "is_done", "loading")

    def __init__(self, asked: Pending[SealedRecords | None]) -> None:
        self.is_done = False
        self.found: SealedRecords | None = None
        self._asked = asked
        self.loading = asked.map(self._take)

    def _take(self, found: SealedRecords | None) -> None:
        self.is_done, self.found = True, found

    def abandon(self) -> None:
        self._asked.abandon()


class FollowedReads:
    """Those of a fetch, for its repetitions."""

    __slots__ = ("begun_ms", "by_item")

    def __init__(self, begun_ms: int) -> None:
        self.begun_ms = begun_ms
        self.by_item: dict[FetchItem, FollowedRead] = {}

    def abandon(self) -> None:
        for reading in self.by_item.values():
            reading.abandon()


@dataclass(slots=True, eq=False)
class FetchQuery:
    items: list[FetchItem]
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    read_committed: bool
    #: Of the client; empty: unknown.
    rack: str = ""
    connection_id: int = 0
    #: Of partitions that others lead.
    followed: FollowedReads | None = None
    #: By partition id: whether the leader sends the client to a replica.
    sent_away: dict[int, bool] | None = None


def is_urgent(fetched: list[FetchedPartition]) -> bool:
    """Whether to respond at once: to a client whose log diverges, and with any error but unknown
    topics and partitions.

    Clients repeat fetches of unknown partitions until they have new metadata: without the wait they
    would loop.
    """
    errors = [
        one.error for one in fetched if one.error is not None or one.diverging_epoch is not None
    ]
    return len(errors) == len(fetched) or not all(isinstance(e, NOT_THERE) for e in errors)


def has_more(fetched: list[FetchedPartition], read_committed: bool) -> bool:
    """Whether a byte limit ended the read, not the log end: new records would not be added.

    Kafka, too, responds at once to a fetch from an older segment, whatever its `min_bytes`.
    """
    return any(
        next_offset(one.records)
        < (one.last_stable_offset if read_committed else one.high_watermark)
        for one in fetched
        if one.records
    )


def count_traffic(fetched: list[FetchedPartition]) -> None:
    for one in fetched:
        partition = one.item.partition
        traffic = one.followed if partition is None else partition.traffic
        if traffic is not None:
            traffic.fetches += 1
            traffic.bytes_out += len(one.records)
            if one.error is not None:
                traffic.failed_fetches += 1
