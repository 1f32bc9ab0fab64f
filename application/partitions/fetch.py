"""Fetch: whole batches from an offset, at once or when `min_bytes` are available."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from application.partitions.fetch_query import (
    FetchedPartition,
    FetchItem,
    FetchQuery,
    count_traffic,
    has_more,
    is_urgent,
)
from application.partitions.pending_fetch import (
    MOST_LOADING,
    DelayedFetch,
    LoadingFetch,
    PendingFetch,
)
from application.partitions.read_replicas import ReadReplicas
from application.ports.clock import Clock
from application.ports.log_store import Buffer, LogStore, NotInMemory
from application.ports.pending import Pending
from application.ports.scheduler import Scheduler
from application.ports.transaction_index import TransactionIndex
from application.state.catalog import Catalog
from application.state.fetch_purgatory import FetchPurgatory
from application.state.storage_health import StorageHealth
from domain.configs.broker import BrokerConfig
from domain.errors import (
    BrokerError,
    FencedLeaderEpoch,
    NotLeaderOrFollower,
    OffsetOutOfRange,
    StorageFailed,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from domain.partitions.leader_epochs import NO_EPOCH
from domain.partitions.partition import Partition
from domain.partitions.transactions import AbortedTransaction
from domain.topics.topic import Topic


class FetchService:
    def __init__(
        self,
        catalog: Catalog,
        log: LogStore,
        transaction_index: TransactionIndex,
        purgatory: FetchPurgatory,
        scheduler: Scheduler,
        config: BrokerConfig,
        storage_health: StorageHealth,
        clock: Clock,
        read_replicas: ReadReplicas | None = None,
    ) -> None:
        self.clock = clock
        self._read_replicas = read_replicas
        self._catalog = catalog
        self._storage_health = storage_health
        self._log = log
        self._transaction_index = transaction_index
        self._purgatory = purgatory
        self._scheduler = scheduler
        self._max_bytes = config.fetch_max_bytes
        self._max_waiting = config.fetch_waiting_max
        self._max_partitions = config.fetch_partitions_max
        self._waiting_partitions = 0
        self._available: Callable[[], int] = lambda: config.fetch_max_bytes
        self._draining = False

    def limit_responses(self, available: Callable[[], int]) -> None:
        """`available` limits the bytes of each response, and is called for each.

        With 0 a response still has its first batch, below 0 none.
        """
        self._available = available

    @property
    def waiting(self) -> int:
        """Fetches in the purgatory."""
        return len(self._purgatory)

    def fetch(self, query: FetchQuery) -> list[FetchedPartition] | PendingFetch:
        loading: list[Pending[None]] = []
        fetched, size_bytes = self.read(query, loading)
        if (
            loading
            and not self._draining
            and (len(fetched) < len(query.items) or not is_urgent(fetched))
        ):
            return LoadingFetch(self, query, loading, self._scheduler)
        if (
            size_bytes >= query.min_bytes
            or query.max_wait_ms <= 0
            or not query.items
            or self._draining
            or len(self._purgatory) >= self._max_waiting
            or self._waiting_partitions + len(query.items) > self._max_partitions
            or is_urgent(fetched)
            or has_more(fetched, query.read_committed)
            or (query.rack and any(one.is_final for one in fetched))
        ):
            count_traffic(fetched)
            return fetched
        self._waiting_partitions += len(query.items)
        return DelayedFetch(self, query, size_bytes, self._purgatory, self._scheduler)

    def ended(self, query: FetchQuery) -> None:
        """The fetch has left the purgatory."""
        self._waiting_partitions -= len(query.items)

    def read(
        self,
        query: FetchQuery,
        loading: list[Pending[None]],
        is_late: bool = False,
        most_loading: int = MOST_LOADING,
    ) -> tuple[list[FetchedPartition], int]:
        """Returns what is in memory, and its bytes of records; adds to `loading` what is not: what
        the response has room for, and `most_loading` at most. Nothing else begins to load: it has
        its turn later, as clients rotate partitions.

        A partition that is used for the first time may be missing. `is_late`: the response waits
        for nothing, and leaves no room for what loads.
        """
        fetched = []
        total_bytes = 0
        available = self._available()
        limit = min(query.max_bytes, self._max_bytes, available)
        replicas = self._read_replicas if query.rack and not self._draining else None
        for item in query.items:
            one: FetchedPartition | None = None
            bytes_left, whole_first = limit - total_bytes, total_bytes == 0 <= available
            loads = not loading or (bytes_left > 0 and len(loading) < most_loading)
            try:
                if replicas is not None:
                    one = self._read_elsewhere(
                        replicas, item, query, bytes_left, whole_first, loads and not is_late
                    )
                if one is None:
                    one = self._read_partition(
                        item, bytes_left, query.read_committed, whole_first, loads
                    )
            except NotInMemory as later:
                loading.append(later.loading)
                if not is_late:
                    limit -= max(min(item.max_bytes, bytes_left), 0)
                if item.partition is not None:
                    one = self._without_records(item, query.read_committed)
            if one is not None:
                total_bytes += len(one.records)
                fetched.append(one)
        return fetched, total_bytes

    def _read_elsewhere(
        self,
        replicas: ReadReplicas,
        item: FetchItem,
        query: FetchQuery,
        bytes_left: int,
        whole_first: bool,
        loads: bool,
    ) -> FetchedPartition | None:
        """Another node serves the records, or leads the partition. None: neither."""
        try:
            partition = self._resolve(item)
        except FencedLeaderEpoch:
            return None
        except NotLeaderOrFollower as elsewhere:
            item.partition = None
            partition_id = self._topic(item).partition_ids[item.index]
            return replicas.read(
                partition_id, item, query, bytes_left, whole_first, loads, elsewhere
            )
        except BrokerError:
            return None
        return replicas.sent_away(partition, item, query)

    def _read_partition(
        self,
        item: FetchItem,
        bytes_left: int,
        read_committed: bool,
        whole_first: bool,
        loads: bool,
    ) -> FetchedPartition:
        try:
            partition = self._resolve(item)
            partition.check_leader_epoch(item.leader_epoch)
            stable = partition.last_stable_offset
            if item.last_fetched_epoch > NO_EPOCH:
                diverging = partition.diverging_epoch(item.last_fetched_epoch, item.offset)
                if diverging is not None:
                    self._catalog.check_lease()
                    offsets = partition.high_watermark, stable, partition.log_start_offset
                    return FetchedPartition(item, None, *offsets, diverging_epoch=diverging)
            partition.check_readable(item.offset)
            end = stable if read_committed else partition.high_watermark
            records: Buffer = b""
            aborted: Sequence[AbortedTransaction] = ()
            if item.offset < end and (bytes_left > 0 or whole_first):
                most_bytes = min(item.max_bytes, bytes_left)
                records, reached = self._log.read_to(
                    partition.partition_id, item.offset, end, most_bytes, whole_first, loads
                )
                if read_committed and item.offset <= partition.transactions.last_aborted_offset:
                    aborted = self._transaction_index.overlapping(
                        partition.partition_id, item.offset, reached
                    )
        except BrokerError as refused:
            if isinstance(refused, StorageFailed) and item.partition is not None:
                self._storage_health.unreadable(item.partition.topic, item.index, refused)
            if isinstance(refused, OffsetOutOfRange) and not self._catalog.has_lease:
                # The next leader may have the offset: the client would reset its position.
                refused = NotLeaderOrFollower()
            return FetchedPartition(item, refused.as_value())
        start = partition.durable.start_offset
        return FetchedPartition(
            item, None, partition.high_watermark, stable, start, records, aborted
        )

    def _without_records(self, item: FetchItem, read_committed: bool) -> FetchedPartition | None:
        try:
            return self._read_partition(item, 0, read_committed, False, False)
        except NotInMemory:  # the partition itself is not loaded
            return None

    def _resolve(self, item: FetchItem) -> Partition:
        catalog = self._catalog
        known = item.partition
        if known is not None and item.revision == catalog.revision and known.broken is None:
            return known
        topic = self._topic(item)
        partition = catalog.partition(topic, item.index, self._draining, item.leader_epoch)
        if partition is None:
            raise UnknownTopicOrPartition(f"{topic.name} has no partition {item.index}")
        item.partition = partition
        item.revision = catalog.revision
        return partition

    def _topic(self, item: FetchItem) -> Topic:
        if item.topic_name is None:
            topic = self._catalog.topic_by_id(item.topic_id)
            if topic is None:
                raise UnknownTopicId("There is no topic with that id")
            return topic
        topic = self._catalog.topic(item.topic_name)
        if topic is None:
            raise UnknownTopicOrPartition(f"There is no topic {item.topic_name}")
        return topic

    def release(self) -> None:
        """The broker is stopping."""
        self._draining = True
        self.end_waiting()

    def end_waiting(self) -> None:
        """Completes all delayed fetches with the available records."""
        for operation in self._purgatory.release_all():
            operation.finish()
