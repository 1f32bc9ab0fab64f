"""App: one broker, from its settings: opened, started, drained and closed in the right order."""

from __future__ import annotations

import asyncio
from typing import Any

from application.broker import Broker
from application.ports.event_log import EventLog
from application.ports.request_log import RequestLog
from domain.errors import StorageFailed
from infrastructure.scheduler import AsyncioScheduler
from infrastructure.storage.opening import Storage
from interfaces.kafka.listener import Listener, Shared
from interfaces.main.container.declarative import containers, providers
from interfaces.main.container.interfaces import InterfacesContainer
from interfaces.main.container.services import ServicesContainer
from interfaces.main.container.storage import StorageContainer
from interfaces.main.settings.sources import Settings

DRAIN_SECONDS = 10.0


class AppContainer(containers.DeclarativeContainer):
    settings = providers.Dependency(instance_of=Settings)
    scheduler: providers.Dependency[Any] = providers.Dependency()
    events: providers.Dependency[Any] = providers.Dependency()
    request_log: providers.Dependency[Any] = providers.Dependency()

    config = settings.provided.broker
    storage = providers.Container(
        StorageContainer, url=settings.provided.storage.url, flush=config.flush
    )
    services = providers.Container(
        ServicesContainer, config=config, scheduler=scheduler, storage=storage
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

    def __init__(self, settings: Settings, events: EventLog, request_log: RequestLog) -> None:
        self._scheduler = AsyncioScheduler(asyncio.get_running_loop())
        container: Any = AppContainer(
            settings=settings,
            scheduler=self._scheduler,
            events=events,
            request_log=request_log,
        )
        self._events = events
        self._flush_interval_ms = settings.broker.flush_interval_ms
        self.storage: Storage = container.storage.store()
        try:
            self.broker: Broker = container.services.broker()
            self._shared: Shared = container.interfaces.shared()
            self.listeners: list[Listener] = container.interfaces.listeners()
        except BaseException:
            self.storage.commit.close()
            raise

    async def start(self) -> None:
        """Raises OSError, with nothing left bound, when an address cannot be had."""
        try:
            for listener in self.listeners:
                await listener.start()
        except OSError:
            self._stop_accepting()
            raise
        self._shared.watch_idle()
        self.broker.dropping.resume()
        if self.storage.start_flush is not None:
            self._flush_now_and_then()

    def _flush_now_and_then(self) -> None:
        def flush() -> None:
            assert self.storage.start_flush is not None
            self.storage.start_flush()
            self._scheduler.after_ms(self._flush_interval_ms, flush)

        self._scheduler.after_ms(self._flush_interval_ms, flush)

    def _stop_accepting(self) -> None:
        for listener in self.listeners:
            listener.stop_accepting()

    async def drain(self) -> None:
        """Answers what is in flight, ends the connections, and keeps what the next start needs."""
        self._stop_accepting()
        await self._shared.drain(DRAIN_SECONDS)
        self.broker.snapshot_all()
        done: asyncio.Future[StorageFailed | None] = asyncio.get_running_loop().create_future()
        self.storage.commit.commit(done.set_result)
        failure = await done
        if failure is not None:
            self._events.warning("snapshot.failed", why=failure.message)

    def close(self) -> None:
        self.storage.commit.close()
