"""App: one broker, from its settings: opened, started, drained and closed in the right order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from application.partitions.strays import stray_partitions
from application.ports.event_log import EventLog
from application.ports.offset_repository import OffsetRepository
from application.ports.pending import Pending
from domain.configs.listener_security import ADMIN, RAW
from domain.configs.listeners import EVERY_ADDRESS
from domain.errors import StorageFailed
from infrastructure.clock import SystemClock
from infrastructure.observability.loop_lag import LoopLag
from infrastructure.observability.request_log import StructuredRequestLog
from infrastructure.scanning.worker_processes import WorkerProcesses
from infrastructure.scheduler import AsyncioScheduler
from infrastructure.storage.errors import StorageUnusable
from interfaces.connections.limits import ConnectionLimits
from interfaces.connections.listener import BaseListener
from interfaces.kafka.connections.listener import Listener
from interfaces.kafka.connections.shared import Shared
from interfaces.main.container.adapters import Adapters
from interfaces.main.container.admin import make_admin, make_server
from interfaces.main.container.certificates import Certificates
from interfaces.main.container.core import Core
from interfaces.main.container.joining import announce, joining_of
from interfaces.main.container.lease_watch import LeaseWatch
from interfaces.main.container.metrics import BrokerMetrics
from interfaces.main.container.services import make_broker
from interfaces.main.container.store_upkeep import StoreUpkeep
from interfaces.main.settings.sources import Settings
from interfaces.rest.admin import Admin
from interfaces.rest.serving.server import AdminServer
from interfaces.terminal.addresses import host_port, is_loopback

if TYPE_CHECKING:
    from application.streams.service import StreamService
    from interfaces.main.container.testing import BrokerTesting, Stage

#: After the start: the check reads a page of every partition.
STRAYS_AFTER_MS = 200
#: For leaders, and committed offsets in a file, before the listeners open.
LOADING_PATIENCE_S = 5.0
#: For the last commit, at least: the server of a database may be away.
COMMIT_PATIENCE_S = 0.5


class App:
    """Needs a running loop. Raises StorageUnusable if the store cannot be opened."""

    def __init__(
        self, settings: Settings, loop: asyncio.AbstractEventLoop, events: EventLog
    ) -> None:
        self._offsets_in_file = settings.offsets.is_file
        #: Committed offsets are loaded, or unusable.
        self._settled = asyncio.Event()
        self._unusable: StorageUnusable | None = None
        self._when_unusable: Callable[[StorageUnusable], None] | None = None
        self._is_fenced = False
        self._when_fenced: Callable[[], None] | None = None
        self._events = events
        self._offset_repository: OffsetRepository | None = None
        self._admin: AdminServer | None = None
        self.listeners: list[Listener] = []
        self.raw_listeners: list[BaseListener] = []
        self._testing: BrokerTesting | None = None
        #: Before the store is opened: the settings may be wrong.
        self._certificates = Certificates(settings.all_security, events)
        self._scheduler, self._clock = AsyncioScheduler(loop), SystemClock()
        if settings.broker.testing:
            from interfaces.main.container.testing import BrokerTesting

            self._testing = testing = BrokerTesting(loop)
            self._scheduler, self._clock = testing.scheduler, testing.clock
        adapters = Adapters(
            storage_url=settings.storage.url,
            offsets_url=settings.offsets.url,
            flush=settings.broker.flush,
            to_loop=self._scheduler.from_thread,
            rows=settings.storage.rows,
            joining=joining_of(settings.broker, self._fenced),
        )
        self.storage = adapters.storage()
        if self.storage.send_on_loop is not None:
            self.storage.send_on_loop(loop)
        if self.storage.info.power_cut is not None:
            events.warning("power_cut_detected", detail=self.storage.info.power_cut)
        self._scan_workers = WorkerProcesses(loop, self.storage, events)
        #: Without a folder a worker would have to request all data from this process.
        self._cleaning_workers = (
            None
            if self.storage.info.path is None
            else WorkerProcesses(loop, self.storage, events, 1)
        )
        try:
            self._make(settings, adapters)
        except BaseException:
            self.close()
            raise

    def _make(self, settings: Settings, adapters: Adapters) -> None:
        self._admin_values = self._compose(settings, adapters)
        self.admin = self._admin = make_server(self._admin_values, self._events, self._metrics)
        if self._testing is not None:
            self._testing.use(
                None if settings.offsets.url else self.storage.take_snapshot,
                partial(self._restore, settings, adapters),
            )

    def _compose(self, settings: Settings, adapters: Adapters) -> Admin:
        """A broker over the store, for new connections of all listeners."""
        config, scheduler, events = settings.broker, self._scheduler, self._events
        core = Core(config, scheduler, self._clock, events, self.storage)
        self._topics, self._cluster = core.topics, core.cluster
        self._offset_repository = adapters.offsets(
            when_committed=core.commits.when_committed,
            unusable=self._cannot_go_on,
            events=events,
        )
        self.broker = make_broker(
            core,
            self._offset_repository,
            adapters.authorizer(),
            self._scan_workers,
            self._cleaning_workers,
            scheduler.from_thread,
        )
        request_log = StructuredRequestLog(
            events, config.log_requests, config.log_requests_slow_ms, config.log_requests_sample
        )
        testing = self._testing
        faulty = None if testing is None else testing.faults.faulty
        self._shared = Shared(self.broker, scheduler, events, request_log, faulty)
        self._shared.admin_urls = self._admin_urls
        for listener in self.listeners:
            listener.hand_over(self._shared)
        self.listeners = self.listeners or [
            Listener(
                self._shared,
                settings.security[one.name],
                self._certificates.of_listener.get(one.name),
            )
            for one in settings.listeners
        ]
        if settings.raw and not self.raw_listeners:
            self.raw_listeners = self._make_raw(settings)
        self._loop_lag = LoopLag(core.background)
        self._metrics = BrokerMetrics(
            core, self.broker, self._shared, self.listeners, self._loop_lag
        )
        return make_admin(
            settings,
            core,
            self.broker,
            request_log,
            self._shared,
            self.listeners,
            self._metrics,
            testing,
            self._certificates.of_listener.get(ADMIN),
        )

    async def _restore(
        self, settings: Settings, adapters: Adapters, restore: Callable[[Stage], None]
    ) -> None:
        """Replaces all data, and composes the broker again; connections of Kafka clients end, and
        requests over HTTP.
        """
        self._shared.abort_all()
        while await self.admin.end_requests() or not self.broker.commits.is_idle:
            await asyncio.sleep(0)
        self._shared.abort_all()  # those that were accepted meanwhile
        self._shared.closing_log.finish()
        self.broker.stop_upkeep()
        assert self._testing is not None and self._offset_repository is not None
        self._testing.scheduler.cancel_all()
        self._offset_repository.close()
        # Clients go on with producer ids that the snapshot does not know.
        block_end = self.broker.messages.init_producer_id.block_end
        try:
            restore(partial(self._cluster.reserve_producer_ids, block_end))
        finally:  # after a failure, with the data that was there
            self._admin_values.take_over(self._compose(settings, adapters))
            self.start_upkeep()

    def _make_raw(self, settings: Settings) -> list[BaseListener]:
        from interfaces.raw.listener import RawListener

        identity = self._certificates.of_listener.get(RAW)
        return [RawListener(RAW, self._current, identity) for _ in settings.raw]

    def _current(self) -> tuple[ConnectionLimits, StreamService]:
        assert self.broker.streams is not None
        return self._shared, self.broker.streams

    def _admin_urls(self, client_host: str) -> list[str]:
        """An admin side on every address has the host that the client uses."""
        urls = []
        for host, port in self.admin.bound:
            scheme = "http" if self._admin_values.tls is None else "https"
            url = f"{scheme}://{host_port(client_host if host in EVERY_ADDRESS else host, port)}"
            remote = is_loopback(host) and not is_loopback(client_host)
            urls.append(f"{url} (on the broker's machine only)" if remote else url)
        return urls

    @property
    def cluster_id(self) -> str:
        return self.broker.cluster_id

    @property
    def recovered(self) -> str:
        catalog = self.broker.catalog
        return f"{len(catalog)} topics, {catalog.partition_count()} partitions"

    @property
    def brokers(self) -> str:
        found = self.broker.cluster.brokers()
        if len(found) < 2:
            return ""
        fenced = len(self.broker.cluster.fenced_nodes())
        dead = f", {fenced} of them not alive" if fenced else ""
        return f"broker {self._node_id}, one of {len(found)} over this store{dead}"

    @property
    def _node_id(self) -> int:
        return self.broker.placement.node_id

    @property
    def has_standby(self) -> bool | None:
        copies = self.storage.copies
        return None if copies is None else copies.count > 1

    def renew_certificates(self) -> None:
        self._certificates.renew()

    def start_upkeep(self) -> None:
        self._shared.watch_idle()
        self._certificates.watch(self.broker.background)
        self._certificates.warn_daily(self.broker.background, self._clock)
        self.broker.start_upkeep()
        self._loop_lag.start()
        self._metrics.history.start()
        self._metrics.start_sending(self._scheduler.from_thread, self._events)
        self.broker.background.after_ms(STRAYS_AFTER_MS, self._name_strays)
        StoreUpkeep(self.storage, self.broker, self._events).start()
        if self.storage.membership is not None:
            LeaseWatch(self.broker, self._events, self._shared.send_away).start()

    def _name_strays(self) -> None:
        strays = stray_partitions(self.storage.log, self._topics, self.broker.catalog)
        if strays:
            self._events.warning("stray_partitions_found", partition_ids=strays)

    def when_unusable(self, call: Callable[[StorageUnusable], None]) -> None:
        """Calls when committed offsets turn out to belong to another broker."""
        self._when_unusable = call
        if self._unusable is not None:
            call(self._unusable)

    def when_fenced(self, call: Callable[[], None]) -> None:
        """Calls when other brokers have taken the place of this one."""
        self._when_fenced = call
        if self._is_fenced:
            call()

    def _fenced(self) -> None:
        if not self._is_fenced:
            self._is_fenced = True
            self._events.warning("broker_fenced")
            if self._when_fenced is not None:
                self._when_fenced()

    async def loaded(self) -> None:
        """Waits for committed offsets in a file; a database server may not be up yet."""
        if not self._offsets_in_file or self.broker.groups.offsets.loaded:
            return
        self.broker.groups.offsets.on_loaded(self._settled.set)
        await _in_time(self._settled, LOADING_PATIENCE_S)

    async def join(self) -> None:
        """Other brokers and their clients find this one; waits until it leads its partitions."""
        if self.storage.membership is not None:
            announce(self.storage.membership, self.broker, self.listeners)
            await _settled(self.broker.begin(), LOADING_PATIENCE_S)

    def _cannot_go_on(self, failure: StorageUnusable) -> None:
        self._unusable = failure
        self._settled.set()
        if self._when_unusable is not None:
            self._when_unusable(failure)

    def _close_workers(self) -> None:
        self._scan_workers.close()
        if self._cleaning_workers is not None:
            self._cleaning_workers.close()

    def _stop_accepting(self) -> None:
        for listener in (*self.listeners, *self.raw_listeners):
            listener.stop_accepting()

    async def drain(self, timeout_seconds: float) -> bool:
        self._stop_accepting()
        # First: clients that are connected find the new leaders.
        await _settled(self.broker.hand_over_all(), timeout_seconds)
        both = (self._shared.drain(timeout_seconds), self.admin.drain(timeout_seconds))
        in_time = all(await asyncio.gather(*both))
        self.broker.stop_upkeep()
        self._close_workers()
        done: asyncio.Future[StorageFailed | None] = asyncio.get_running_loop().create_future()
        self.broker.snapshot_all(done.set_result)
        # Without cancelling it: it may be called until the store is closed.
        await asyncio.wait([done], timeout=max(timeout_seconds, COMMIT_PATIENCE_S))
        failure = done.result() if done.done() else StorageFailed("the store does not respond")
        if failure is not None:
            self._events.warning("snapshot_failed", error=failure)
        return in_time

    def close(self) -> None:
        # What closing the store makes of a commit under way is no response: it may be persisted,
        # and a producer who is told that it failed forms other batches of the same records.
        self._stop_accepting()
        if self._admin is not None:  # otherwise no broker was made
            self._shared.abort_all()
            self._admin.close()
        self._close_workers()
        if self._testing is not None:
            self._testing.delete_snapshots()
        if self._offset_repository is not None:
            self._offset_repository.close()
        self.storage.commit.close()


async def _settled(pending: Pending[Any], timeout_seconds: float) -> None:
    """Waits for it; also for a failure."""
    if not pending.resolved:
        event = asyncio.Event()
        pending.then(lambda _: event.set(), lambda _: event.set())
        await _in_time(event, timeout_seconds)


async def _in_time(event: asyncio.Event, timeout_seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), timeout_seconds)
