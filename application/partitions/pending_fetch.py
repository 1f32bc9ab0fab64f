"""Fetches that wait: for records that are not in memory, or for new ones."""

from __future__ import annotations

from typing import Protocol

from application.partitions.fetch_query import (
    FetchedPartition,
    FetchQuery,
    count_traffic,
    is_urgent,
)
from application.ports.clock import Clock
from application.ports.pending import Pending, all_of
from application.ports.scheduler import Scheduler
from application.state.fetch_purgatory import FetchPurgatory
from domain.partitions.partition import Partition

#: Within the time for which a failed read is remembered.
LOOK_AGAIN_MS = 500
#: Reads that a fetch begins at once: each may be 4 MiB of an object, and few results are kept.
MOST_LOADING = 16


class Service(Protocol):
    """What repeats a fetch."""

    clock: Clock

    def fetch(self, query: FetchQuery) -> list[FetchedPartition] | PendingFetch: ...

    def read(
        self, query: FetchQuery, loading: list[Pending[None]], is_late: bool, most_loading: int
    ) -> tuple[list[FetchedPartition], int]: ...

    def ended(self, query: FetchQuery) -> None: ...


class PendingFetch(Pending[list[FetchedPartition]]):
    """A fetch that is repeated when its data is available."""

    __slots__ = ("_deadline_ms", "_query", "_repeated", "_service")

    def __init__(self, service: Service, query: FetchQuery) -> None:
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
        service: Service,
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
        try:
            fetched, size_bytes = self._service.read(self._query, [], True, self._most_loading)
        except Exception as fault:
            self._stop_loading()
            self.fail(fault)
            return
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
        service: Service,
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
