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
from application.partitions.read_replicas import ReadReplicas
from application.ports.clock import Clock
from application.ports.log_store import Buffer, LogStore, NotInMemory
from application.ports.pending import Pending, all_of
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
    StorageFailed,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from domain.partitions.leader_epochs import NO_EPOCH
from domain.partitions.partition import Partition
from domain.partitions.transactions import AbortedTransaction
from domain.topics.topic import Topic

#: Within the time for which a failed read is remembered.
LOOK_AGAIN_MS = 500
#: Reads that a fetch begins at once: each may be 4 MiB of an object, and few results are kept.
MOST_LOADING = 16


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


class PendingFetch(Pending[list[FetchedPartition]]):
    """A fetch that is repeated when its data is available."""

    __slots__ = ("_deadline_ms", "_query", "_repeated", "_service")

    def __init__(self, service: FetchService, query: FetchQuery) -> None:
        super().__init__()
        self._service = service
        self._query = query
        self._deadline_ms = service.clock.monotonic_ms() + query.max_wait_ms
        self._repeated: PendingFetch | None = None

    def _repeat(self) -> None:
        left_ms = self._deadline_ms - self._service.clock.monotonic_ms()
        self._query.max_wait_ms = max(left_ms, 0)
        try:
            fetched = self._service.fetch(self._query)
        except Exception as fault:
            self.fail(fault)
            return
        if isinstance(fetched, PendingFetch):
            self._repeated = fetched
            fetched.then(self.resolve, self.fail)
        else:
            self.resolve(fetched)

    def abandon(self) -> None:
        super().abandon()
        if self._repeated is not None:
            self._repeated.abandon()


class LoadingFetch(PendingFetch):
    """A fetch of records that are not in memory.

    It holds no records meanwhile, but those that it has read as a follower: all partitions are read
    when all are loaded. After `max_wait_ms` the response has what there is: the records in memory,
    and errors of partitions that cannot be read. If there is nothing, or a partition is not loaded,
    so that its offsets are unknown, it is looked at again. A follower takes some time for any
    record: reads that were given up after less would be repeated without end.
    """

    __slots__ = ("_loading", "_most_loading", "_scheduler", "_timer")

    def __init__(
        self,
        service: FetchService,
        query: FetchQuery,
        loading: list[Pending[None]],
        scheduler: Scheduler,
    ) -> None:
        super().__init__(service, query)
        self._loading = all_of(loading)
        self._most_loading = min(len(loading), MOST_LOADING)
        self._scheduler = scheduler
        wait_ms = query.max_wait_ms
        if query.followed is not None:
            followed_ms = service.clock.monotonic_ms() - query.followed.begun_ms
            wait_ms = max(wait_ms, LOOK_AGAIN_MS - followed_ms)
        self._timer = scheduler.after_ms(wait_ms, self._out_of_time)
        self._loading.then(self._loaded)

    def _loaded(self, _: None) -> None:
        self._timer.cancel()
        self._repeat()

    def _out_of_time(self) -> None:
        # Behind those that load there may be one that takes less: each time one more is tried.
        self._most_loading += 1
        fetched, size_bytes = self._service.read(self._query, [], True, self._most_loading)
        has_some = size_bytes or is_urgent(fetched) or any(one.is_final for one in fetched)
        if has_some and len(fetched) == len(self._query.items):
            self._stop_loading()
            count_traffic(fetched)
            self.resolve(fetched)
        else:
            self._timer = self._scheduler.after_ms(LOOK_AGAIN_MS, self._out_of_time)

    def abandon(self) -> None:
        super().abandon()
        self._stop_loading()

    def _stop_loading(self) -> None:
        self._timer.cancel()
        self._loading.abandon()
        if self._query.followed is not None:
            self._query.followed.abandon()


class DelayedFetch(PendingFetch):
    """A fetch in the purgatory: repeated when its partitions have `min_bytes` of records."""

    __slots__ = (
        "_available_bytes",
        "_partitions",
        "_purgatory",
        "_seen",
        "_timer",
    )

    def __init__(
        self,
        service: FetchService,
        query: FetchQuery,
        available_bytes: int,
        purgatory: FetchPurgatory,
        scheduler: Scheduler,
    ) -> None:
        super().__init__(service, query)
        self._available_bytes = available_bytes
        self._purgatory = purgatory
        self._partitions = [item.partition for item in query.items if item.partition is not None]
        self._seen = {p: p.durable for p in self._partitions}
        purgatory.watch(self._partitions, self)
        self._timer = scheduler.after_ms(query.max_wait_ms, self.finish)

    def advanced(self, partition: Partition) -> None:
        before, now = self._seen[partition], partition.durable
        self._seen[partition] = now
        grown_bytes = now.appended_bytes - before.appended_bytes
        self._available_bytes += (
            now.stable_bytes - before.stable_bytes if self._query.read_committed else grown_bytes
        )
        if self._available_bytes >= self._query.min_bytes or grown_bytes <= 0:
            self.finish()

    def finish(self) -> None:
        self._stop_waiting()
        self._deadline_ms = 0
        self._repeat()

    def abandon(self) -> None:
        super().abandon()
        if not self.resolved and self._repeated is None:
            self._stop_waiting()

    def _stop_waiting(self) -> None:
        self._service.ended(self._query)
        self._timer.cancel()
        self._purgatory.unwatch(self._partitions, self)
