"""App: one broker, from its settings: opened, started, drained and closed in the right order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from application.broker import Broker
from application.ports.event_log import EventLog
from application.ports.topic_repository import TopicRepository
from application.upkeep.strays import stray_partitions
from domain.errors import StorageFailed
from infrastructure.observability.request_log import StructuredRequestLog
from infrastructure.scheduler import AsyncioScheduler
from infrastructure.storage.opening import Storage
from interfaces.kafka.listener import Listener, Shared
from interfaces.main.container.declarative import containers, providers
from interfaces.main.container.interfaces import InterfacesContainer
from interfaces.main.container.services import ServicesContainer
from interfaces.main.container.storage import StorageContainer
from interfaces.main.settings.sources import Settings

#: Once clients are being served: looking touches a page of every partition.
STRAYS_AFTER_MS = 200


class AppContainer(containers.DeclarativeContainer):
    settings = providers.Dependency(instance_of=Settings)
    scheduler: providers.Dependency[Any] = providers.Dependency()
    events: providers.Dependency[Any] = providers.Dependency()

    config = settings.provided.broker
    storage = providers.Container(
        StorageContainer, url=settings.provided.storage.url, flush=config.flush
    )
    services = providers.Container(
        ServicesContainer, config=config, scheduler=scheduler, events=events, storage=storage
    )
    request_log = providers.Singleton(
        StructuredRequestLog,
        events,
        config.log_requests,
        config.log_requests_slow_ms,
        config.log_requests_sample,
    )
    interfaces = providers.Container(
        InterfacesContainer,
        broker=services.broker,
        scheduler=scheduler,
        events=events,
        request_log=request_log,
        listener_settings=settings.provided.listeners,
    )


class App:
    """Made on a running loop. Raises StorageUnusable where the store cannot be opened."""

    def __init__(
        self, settings: Settings, loop: asyncio.AbstractEventLoop, events: EventLog
    ) -> None:
        self._scheduler = AsyncioScheduler(loop)
        container: Any = AppContainer(settings=settings, scheduler=self._scheduler, events=events)
        self._events = events
        self._closed = False
        self._flush_interval_ms = settings.broker.flush_interval_ms
        self.storage: Storage = container.storage.store()
        if self.storage.info.power_cut is not None:
            events.warning(self.storage.info.power_cut)
        self._topics: TopicRepository = container.storage.topics()
        try:
            self.broker: Broker = container.services.broker()
            self._shared: Shared = container.interfaces.shared()
            self.listeners: list[Listener] = container.interfaces.listeners()
        except BaseException:
            self.storage.commit.close()
            raise

    @property
    def cluster_id(self) -> str:
        return self.broker.cluster_id

    @property
    def recovered(self) -> str:
        catalog = self.broker.catalog
        return f"{len(catalog)} topics, {catalog.partition_count()} partitions"

    def start_upkeep(self) -> None:
        self._shared.watch_idle()
        self.broker.start_upkeep()
        self._scheduler.after_ms(STRAYS_AFTER_MS, self._name_strays)
        if self.storage.start_flush is not None:
            self._flush_now_and_then(self.storage.start_flush)

    def _name_strays(self) -> None:
        if self._closed:
            return
        strays = stray_partitions(self.storage.log, self._topics, self.broker.catalog)
        if strays:
            self._events.warning("the store has data that no topic owns", partition_ids=strays)

    def _flush_now_and_then(self, start_flush: Callable[[], None]) -> None:
        def flush() -> None:
            # First: whatever happens now, the next one comes.
            self._scheduler.after_ms(self._flush_interval_ms, flush)
            try:
                start_flush()
            except StorageFailed as failure:
                words = "the store was not flushed; it will be tried again"
                self._events.warning(words, failure=failure)

        self._scheduler.after_ms(self._flush_interval_ms, flush)

    async def drain(self, timeout_seconds: float) -> bool:
        for listener in self.listeners:
            listener.stop_accepting()
        in_time = await self._shared.drain(timeout_seconds)
        self.broker.stop_upkeep()
        done: asyncio.Future[StorageFailed | None] = asyncio.get_running_loop().create_future()
        self.broker.snapshot_all(done.set_result)
        failure = await done
        if failure is not None:
            self._events.warning("the partitions' snapshots were not kept", failure=failure)
        return in_time

    def close(self) -> None:
        self._closed = True
        self.storage.commit.close()
